// PocketBase with a collection of what Tally stores of a report. Its arguments are the folder of its data and the
// address to serve; it prints the token of a person and the settings of its database as JSON.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: os.Args[1]})
	must(app.Bootstrap())
	must(app.RunAllMigrations())
	must(app.Save(entries()))
	// It would write a second database for every request.
	app.Settings().Logs.MaxDays = 0
	must(app.Save(app.Settings()))

	users, err := app.FindCollectionByNameOrId("users")
	must(err)
	manager := core.NewRecord(users)
	manager.SetEmail("bench@example.com")
	manager.SetRandomPassword()
	must(app.Save(manager))
	token, err := manager.NewAuthToken()
	must(err)

	// As Tally does, an entry belongs to the owner of the token.
	app.OnRecordCreateRequest("token_entries").BindFunc(func(e *core.RecordRequestEvent) error {
		e.Record.Set("manager", e.Auth.Id)
		return e.Next()
	})
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		// It would open a browser.
		e.InstallerFunc = nil
		return e.Next()
	})
	must(json.NewEncoder(os.Stdout).Encode(map[string]string{
		"token":        token,
		"journal_mode": pragma(app, "journal_mode"),
		"synchronous":  pragma(app, "synchronous"),
	}))
	must(apis.Serve(app, apis.ServeConfig{HttpAddr: os.Args[2]}))
}

// Its fields have the names in the body of a report, which so needs no conversion, and its indexes resemble those of
// Tally's entries.
func entries() *core.Collection {
	collection := core.NewBaseCollection("token_entries")
	collection.CreateRule = types.Pointer(`@request.auth.id != ""`)
	for _, name := range []string{"manager", "agent_harness", "agent_name", "model", "project", "session_id"} {
		collection.Fields.Add(&core.TextField{Name: name, Required: name != "manager"})
	}
	collection.Fields.Add(
		&core.DateField{Name: "started_at", Required: true},
		&core.DateField{Name: "ended_at", Required: true},
		&core.JSONField{Name: "tokens", Required: true},
		&core.NumberField{Name: "requests"},
		&core.TextField{Name: "summary"},
		&core.JSONField{Name: "labels"},
		&core.AutodateField{Name: "created", OnCreate: true},
	)
	collection.AddIndex("entries_by_session", true, "session_id, model", "")
	collection.AddIndex("entries_by_start", false, "started_at", "")
	collection.AddIndex("entries_by_manager", false, "manager, started_at", "")
	collection.AddIndex("entries_by_project", false, "project, started_at", "")
	collection.AddIndex("entries_by_model", false, "model, started_at", "")
	return collection
}

func pragma(app core.App, name string) string {
	var value string
	must(app.DB().NewQuery("PRAGMA " + name).Row(&value))
	return value
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
