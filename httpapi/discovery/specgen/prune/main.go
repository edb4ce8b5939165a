// Command prune drops from a file that openapi-gen wrote what specgen has no use for: openapi-gen describes whole packages,
// and that of the core group is large.
//
// usage: prune FILE PACKAGE TYPE...
//
// Of the package's types those named are kept, and those that something refers to which is kept.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: prune FILE PACKAGE TYPE...")
		os.Exit(2)
	}
	if err := prune(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "prune:", err)
		os.Exit(1)
	}
}

func prune(path, from string, types []string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	functions := map[string]*ast.FuncDecl{}
	var index *ast.CompositeLit // from models to functions
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		functions[function.Name.Name] = function
		if function.Name.Name == "GetOpenAPIDefinitions" {
			index = function.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.CompositeLit)
		}
	}
	if index == nil {
		return fmt.Errorf("%s has no index of definitions", path)
	}
	alias := aliasOf(from, file)
	var pending []string
	for _, name := range types {
		pending = append(pending, alias+"."+name)
	}
	describes := map[string]string{} // model to the name of its function
	for _, entry := range index.Elts {
		pair := entry.(*ast.KeyValueExpr)
		name := model(pair.Key)
		describes[name] = pair.Value.(*ast.CallExpr).Fun.(*ast.Ident).Name
		if !strings.HasPrefix(name, alias+".") {
			pending = append(pending, name)
		}
	}

	keep := map[string]bool{"GetOpenAPIDefinitions": true}
	kept := map[string]bool{}
	for len(pending) > 0 {
		name := pending[0]
		pending = pending[1:]
		if kept[name] {
			continue
		}
		function := describes[name]
		if function == "" {
			return fmt.Errorf("%s does not describe %s", path, name)
		}
		kept[name], keep[function] = true, true
		ast.Inspect(functions[function], func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if referred := model(call); referred != "" {
					pending = append(pending, referred)
				}
			}
			return true
		})
	}

	var entries []ast.Expr
	for _, entry := range index.Elts {
		if kept[model(entry.(*ast.KeyValueExpr).Key)] {
			entries = append(entries, entry)
		}
	}
	index.Elts = entries
	var declarations []ast.Decl
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); !ok || keep[function.Name.Name] {
			declarations = append(declarations, declaration)
		}
	}
	file.Decls = declarations
	return write(path, files, file)
}

// model is v1.Lease of v1.Lease{}.OpenAPIModelName(), and "" of another expression.
func model(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "OpenAPIModelName" {
		return ""
	}
	name, ok := method.X.(*ast.CompositeLit).Type.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	return name.X.(*ast.Ident).Name + "." + name.Sel.Name
}

// aliasOf is what a file calls a package.
func aliasOf(path string, file *ast.File) string {
	for _, one := range file.Imports {
		if one.Path.Value == strconv.Quote(path) {
			return localName(one)
		}
	}
	return path
}

func localName(one *ast.ImportSpec) string {
	if one.Name != nil {
		return one.Name.Name
	}
	path := strings.Trim(one.Path.Value, `"`)
	return path[strings.LastIndex(path, "/")+1:]
}

// write replaces the file, without the imports that nothing uses any more.
func write(path string, files *token.FileSet, file *ast.File) error {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok {
				used[name.Name] = true
			}
		}
		return true
	})
	imports := file.Decls[0].(*ast.GenDecl)
	var specs []ast.Spec
	for _, spec := range imports.Specs {
		if used[localName(spec.(*ast.ImportSpec))] {
			specs = append(specs, spec)
		}
	}
	imports.Specs = specs
	var out bytes.Buffer
	if err := format.Node(&out, files, file); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
