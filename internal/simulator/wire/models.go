package wire

import (
	"net/http"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/fault"
)

// modelsRoutes answer which models there are: any that is asked for by name.
func modelsRoutes(rt backend.Routes, path string) {
	rt.On(fault.Models, "GET", path+"/models", func(c *backend.Call) {
		list := []any{}
		for _, name := range []string{"sim-large", "sim-small"} {
			list = append(list, modelObject(c, name))
		}
		c.Reply(http.StatusOK, map[string]any{"object": "list", "data": list})
	})
	rt.On(fault.Models, "GET", path+"/models/{model...}", func(c *backend.Call) {
		name := c.Request.PathValue("model")
		if rej := bodies.CheckModel(name); rej != nil {
			c.Fail(rej)
			return
		}
		c.Reply(http.StatusOK, modelObject(c, name))
	})
}

func modelObject(c *backend.Call, name string) map[string]any {
	return map[string]any{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": c.Vendor.Name}
}
