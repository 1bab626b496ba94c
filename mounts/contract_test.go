package mounts

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/pagination"
)

// requestTypes has a zero value of every request, found through the methods of
// Backend, so that a method added later is tested without being listed here.
func operationMethods(t *testing.T) []reflect.Method {
	t.Helper()
	var methods []reflect.Method
	request := reflect.TypeFor[Request]()
	backend := reflect.TypeFor[Backend]()
	for i := range backend.NumMethod() {
		m := backend.Method(i)
		if m.Type.NumIn() == 2 && m.Type.In(1).Implements(request) {
			methods = append(methods, m)
		}
	}
	if len(methods) < 29 {
		t.Fatalf("only %d operations found on Backend", len(methods))
	}
	return methods
}

// answerFor makes a distinguishable response of the method's type; nil for a
// method that returns only an error.
func answerFor(m reflect.Method) Response {
	if m.Type.NumOut() == 1 {
		return nil
	}
	return reflect.New(m.Type.Out(0).Elem()).Interface()
}

func call(b Backend, m reflect.Method, req any) (Response, error) {
	out := reflect.ValueOf(b).MethodByName(m.Name).Call([]reflect.Value{
		reflect.ValueOf(context.Background()), reflect.ValueOf(req)})
	err, _ := out[len(out)-1].Interface().(error)
	if len(out) == 1 {
		return nil, err
	}
	if out[0].IsNil() {
		return nil, err
	}
	return out[0].Interface(), err
}

func TestAroundForwardsEveryOperationOnceToTheSameMethod(t *testing.T) {
	for _, m := range operationMethods(t) {
		t.Run(m.Name, func(t *testing.T) {
			want := answerFor(m)
			var reached []Request
			inner := Dispatch(func(_ context.Context, req Request) (Response, error) {
				reached = append(reached, req)
				return want, nil
			}, Unsupported{})
			var passed []Request
			b := Around(inner, func(ctx context.Context, req Request, next Handler) (Response, error) {
				passed = append(passed, req)
				return next(ctx, req)
			})
			req := reflect.New(m.Type.In(1).Elem()).Interface().(Request)
			got, err := call(b, m, req)
			if err != nil {
				t.Fatal(err)
			}
			if len(passed) != 1 || len(reached) != 1 || passed[0] != req || reached[0] != req {
				t.Errorf("the request passed the interceptor %d times and arrived %d times", len(passed), len(reached))
			}
			if got != want {
				t.Errorf("answered %v, not the backend's own %v", got, want)
			}
			if req.Op().Row().Method != m.Name {
				t.Errorf("the request says it is %v, whose method is %s", req.Op(), req.Op().Row().Method)
			}
		})
	}
}

// keeper honours keys for a while.
type keeper struct{ Unsupported }

func (keeper) KeyLifetime() time.Duration { return time.Hour }

func TestTheKeyLifetimePassesThroughDecoratorsAndIsZeroInTheStub(t *testing.T) {
	b := Around(Dispatch(nil, keeper{}), func(ctx context.Context, req Request, next Handler) (Response, error) { return next(ctx, req) })
	if got := b.KeyLifetime(); got != time.Hour {
		t.Errorf("a decorator makes %v of an hour", got)
	}
	if got := (Unsupported{}).KeyLifetime(); got != 0 {
		t.Errorf("the stub honours keys for %v", got)
	}
}

func TestAroundPassesErrorsAndNeverAnAnswerWithThem(t *testing.T) {
	boom := &Error{Kind: NoSuchTable}
	for _, m := range operationMethods(t) {
		b := Around(Dispatch(func(context.Context, Request) (Response, error) { return answerFor(m), boom }, Unsupported{}),
			func(ctx context.Context, req Request, next Handler) (Response, error) { return next(ctx, req) })
		got, err := call(b, m, reflect.New(m.Type.In(1).Elem()).Interface())
		if err != error(boom) || got != nil {
			t.Errorf("%s: got %v, %v", m.Name, got, err)
		}
	}
}

func TestUnsupportedRefusesEveryOperationByName(t *testing.T) {
	for _, m := range operationMethods(t) {
		_, err := call(Unsupported{}, m, reflect.New(m.Type.In(1).Elem()).Interface())
		if !errors.Is(err, UnsupportedOperation) || AsError(err).Op.Row().Method != m.Name {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

func TestEveryOperationOfTheTableIsABackendMethodAndBack(t *testing.T) {
	methods := map[string]bool{}
	for _, m := range operationMethods(t) {
		methods[m.Name] = false
	}
	for _, row := range capabilities.Operations() {
		if _, ok := methods[row.Method]; !ok {
			t.Errorf("%s is answered by no Backend method %q", row.Name, row.Method)
		}
		methods[row.Method] = true
	}
	for name, listed := range methods {
		if !listed {
			t.Errorf("Backend.%s has no row in the operation table", name)
		}
	}
}

func TestAHandlerThatAnswersTheWrongTypeIsAnInternalErrorNotAPanic(t *testing.T) {
	b := Dispatch(func(context.Context, Request) (Response, error) { return &View{}, nil }, Unsupported{})
	if _, err := b.LoadTable(context.Background(), &LoadTableRequest{}); !errors.Is(err, Internal) {
		t.Errorf("got %v", err)
	}
}

func TestMappingNamesReachesEveryNamespaceAndLeavesTheOriginalAlone(t *testing.T) {
	down := func(n Namespace) (Namespace, error) { return append(Namespace{"mapped"}, n...), nil }
	for _, m := range operationMethods(t) {
		req := reflect.New(m.Type.In(1).Elem())
		filled := fill(req.Elem())
		before := fmt.Sprintf("%+v", req.Interface())
		out, err := MapRequest(req.Interface().(Request), down)
		if err != nil {
			t.Fatal(err)
		}
		if got := countMapped(reflect.ValueOf(out).Elem()); got != filled || filled == 0 {
			t.Errorf("%s: %d of %d namespaces were mapped", m.Name, got, filled)
		}
		if after := fmt.Sprintf("%+v", req.Interface()); after != before {
			t.Errorf("%s: the request was changed in place: %s", m.Name, after)
		}
		if _, err := MapRequest(req.Interface().(Request), func(Namespace) (Namespace, error) { return nil, BadRequest }); !errors.Is(err, BadRequest) {
			t.Errorf("%s: the error of a name is lost: %v", m.Name, err)
		}
	}
	page := &pagination.Page[Identifier]{Items: []Identifier{{Namespace{"a"}, "t"}}, Next: "n"}
	mapped := MapResponse(page, func(n Namespace) Namespace { return append(Namespace{"m"}, n...) }).(*pagination.Page[Identifier])
	if mapped.Items[0].String() != "m.a.t" || mapped.Next != "n" || page.Items[0].String() != "a.t" {
		t.Errorf("mapped to %v, original %v", mapped, page)
	}
}

// fill puts a namespace wherever one can be and counts them.
func fill(v reflect.Value) int {
	switch {
	case v.Type() == reflect.TypeFor[Namespace]():
		v.Set(reflect.ValueOf(Namespace{"x"}))
		return 1
	case v.Kind() == reflect.Struct:
		n := 0
		for i := range v.NumField() {
			n += fill(v.Field(i))
		}
		return n
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		return fill(v.Index(0)) + fill(v.Index(1))
	}
	return 0
}

func countMapped(v reflect.Value) int {
	switch {
	case v.Type() == reflect.TypeFor[Namespace]():
		if n := v.Interface().(Namespace); len(n) == 2 && n[0] == "mapped" {
			return 1
		}
	case v.Kind() == reflect.Struct:
		n := 0
		for i := range v.NumField() {
			n += countMapped(v.Field(i))
		}
		return n
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		n := 0
		for i := range v.Len() {
			n += countMapped(v.Index(i))
		}
		return n
	}
	return 0
}

func TestErrorsMatchTheirKindThroughAnyWrapping(t *testing.T) {
	for _, kind := range Kinds() {
		err := fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", &Error{Kind: kind, OutcomeUnknown: true, Err: context.Canceled}))
		if !errors.Is(err, kind) || !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not found through wrapping", kind)
		}
		for _, other := range Kinds() {
			if other != kind && errors.Is(err, other) {
				t.Errorf("%v passes for %v", kind, other)
			}
		}
		if kind.Error() == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
	if errors.Is(&Error{Kind: Timeout}, ErrOutcomeUnknown) {
		t.Error("a timeout before sending passes for an unknown outcome")
	}
}

func TestMessagesNameTheObjectAndTheMountAndHideTheCause(t *testing.T) {
	orders := Identifier{Namespace{"shared", "eu"}, "orders"}
	for want, e := range map[string]*Error{
		"Table does not exist: shared.eu.orders":                                        {Kind: NoSuchTable, Ident: orders, Mount: "partner"},
		"Namespace already exists: shared.eu":                                           {Kind: AlreadyExists, Op: capabilities.CreateNamespace, Ident: Identifier{Namespace: Namespace{"shared", "eu"}}},
		"Cannot rename shared.eu.orders to x.y. Table already exists":                   {Kind: AlreadyExists, Op: capabilities.RenameTable, Ident: orders, To: Identifier{Namespace{"x"}, "y"}},
		"View with same name already exists: shared.eu.orders":                          {Kind: AlreadyExists, Msg: "View with same name already exists: {object}", Ident: orders},
		`mount "partner": no answer in time`:                                            {Kind: Timeout, Mount: "partner", Err: errors.New("dial tcp 10.0.0.1")},
		`mount "partner": dropTable is not supported here (asked for shared.eu.orders)`: {Kind: UnsupportedOperation, Op: capabilities.DropTable, Mount: "partner", Ident: orders},
	} {
		if got := e.Message(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	log := (&Error{Kind: Timeout, Op: capabilities.LoadTable, Err: errors.New("dial tcp"), RetryAfter: time.Second}).Error()
	if log != "loadTable: no answer in time: dial tcp" {
		t.Errorf("the log sees %q", log)
	}
	if e := AsError(errors.New("plain")); e.Kind != Internal || e.Err == nil || AsError(nil) != nil {
		t.Error("an error of another type is not an internal one")
	}
}

func TestMountTableResolvesByFirstLevelElseUnderneath(t *testing.T) {
	m, err := NewMap(Mount{Name: "prod"}, Mount{Name: UnderName, ViewName: "root"}, Mount{Name: "a-b_1"})
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[string]string{"prod": "prod", "a-b_1": "a-b_1", "scratch": "/", "root": "/", "/": "/", "": "/"} {
		if got := m.Resolve(Namespace{level, "x"}); got == nil || got.Name != want {
			t.Errorf("%q resolves to %+v", level, got)
		}
	}
	if m.Resolve(nil) != m.Under() || m.ByView("root") != m.Under() || m.ByView("/") != nil || m.Mounted("/") != nil {
		t.Error("the catalog underneath is found wrongly")
	}
	if all := m.All(); len(all) != 3 || all[0].Name != "a-b_1" || all[2].Name != "/" {
		t.Errorf("listed as %v", all)
	}
	bare, err := NewMap(Mount{Name: "prod"})
	if err != nil || bare.Resolve(Namespace{"other"}) != nil {
		t.Error("without a catalog underneath other names lead nowhere")
	}
}

func TestMountTableRefusesBadNames(t *testing.T) {
	for _, name := range []string{"", "-a", "a b", "a.b", "é", "a/b", "namespaces", "tables", "views", "transactions", "config", "oauth"} {
		if _, err := NewMap(Mount{Name: name}); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	if _, err := NewMap(Mount{Name: "a"}, Mount{Name: "a"}); err == nil {
		t.Error("a duplicate was accepted")
	}
	if _, err := NewMap(Mount{Name: "root"}, Mount{Name: UnderName, ViewName: "root"}); err == nil {
		t.Error("a view name that is another mount's name was accepted")
	}
}
