# What the policies beside this file are to decide: icefield policy test --config governed.hcl policies/decisions.hcl

decision "alice reads the payroll" {
  principal = "corp/alice"
  tenant    = "acme"
  action    = "loadTable"
  resource  = "lake.hr.payroll"
  expect    = "allow"
  policies  = ["acme/payroll for alice"]
}

decision "and has keys to it" {
  principal = "corp/alice"
  tenant    = "acme"
  action    = "loadCredentials"
  resource  = "lake.hr.payroll"
  expect    = "allow"
}

decision "that cannot write" {
  principal = "corp/alice"
  tenant    = "acme"
  action    = "commitTable"
  resource  = "lake.hr.payroll"
  expect    = "deny"
}

decision "and reads nothing else" {
  principal = "corp/alice"
  tenant    = "acme"
  action    = "loadTable"
  resource  = "lake.hr.reviews"
  expect    = "deny"
}

decision "support reads the customers of one country" {
  principal  = "corp/sam"
  tenant     = "acme"
  roles      = ["support"]
  action     = "loadTable"
  resource   = "lake.crm.customers"
  expect     = "allow"
  policies   = ["acme/customers of norway"]
  restricted = true
}

decision "and no files" {
  principal = "corp/sam"
  tenant    = "acme"
  roles     = ["support"]
  action    = "vendRestricted"
  resource  = "lake.crm.customers"
  expect    = "deny"
}

decision "the engine reads the files" {
  principal = "key/engine"
  tenant    = "acme"
  roles     = ["support"]
  action    = "vendRestricted"
  resource  = "lake.crm.customers"
  expect    = "allow"
  policies  = ["trusted engines"]
}

decision "support of another company" {
  principal = "corp/eve"
  tenant    = "globex"
  roles     = ["support", "admin"]
  action    = "loadTable"
  resource  = "lake.crm.customers"
  expect    = "deny"
}

decision "readers read, and are not restricted" {
  principal  = "key/reader"
  tenant     = "acme"
  roles      = ["reader"]
  action     = "loadTable"
  resource   = "lake.crm.customers"
  expect     = "allow"
  policies   = ["builtin-reader"]
  restricted = false
}

decision "writers drop nothing" {
  principal = "key/writer"
  tenant    = "acme"
  roles     = ["writer"]
  action    = "dropTable"
  resource  = "lake.sales.orders"
  expect    = "deny"
}
