package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// environmentName returns the variable that stands for a flag: LEASEHOLD_HISTORY_AGE for history-age.
func environmentName(flag string) string {
	return "LEASEHOLD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fillFlags sets every flag that the command line left alone from the environment, and else from the YAML file that
// --config or LEASEHOLD_CONFIG names.
func fillFlags(flags *pflag.FlagSet, lookup func(name string) (string, bool)) error {
	if err := fillFromEnvironment(flags, lookup); err != nil {
		return err
	}
	path, err := flags.GetString("config")
	if err != nil || path == "" {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	if err := fillFromYAML(flags, data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func fillFromEnvironment(flags *pflag.FlagSet, lookup func(name string) (string, bool)) error {
	var failure error
	flags.VisitAll(func(flag *pflag.Flag) {
		value, set := lookup(environmentName(flag.Name))
		if flag.Changed || !set || failure != nil {
			return
		}
		if err := flags.Set(flag.Name, value); err != nil {
			failure = fmt.Errorf("%s: %w", environmentName(flag.Name), err)
		}
	})
	return failure
}

// fillFromYAML refuses keys that are no flag: a mistyped limit must not silently be the default.
func fillFromYAML(flags *pflag.FlagSet, data []byte) error {
	var file map[string]any
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return err
	}
	names := make([]string, 0, len(file))
	for name := range file {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		flag := flags.Lookup(name)
		if flag == nil || name == "config" || name == "help" {
			return fmt.Errorf("unknown key %q", name)
		}
		if flag.Changed {
			continue
		}
		if err := flags.Set(name, flagText(file[name])); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// flagText writes a YAML value as it would stand after a flag: lists with commas, maps as key=value.
func flagText(value any) string {
	switch value := value.(type) {
	case []any:
		parts := make([]string, len(value))
		for i, part := range value {
			parts[i] = flagText(part)
		}
		return strings.Join(parts, ",")
	case map[string]any:
		parts := make([]string, 0, len(value))
		for key, part := range value {
			parts = append(parts, key+"="+flagText(part))
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	case float64:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%f", value), "0"), ".")
	default:
		return fmt.Sprint(value)
	}
}
