import { html, page } from './html.ts'

/** What stands at `/`: that Tally runs, and how a first entry gets into it. `url` is the address to report to. */
export function landingPage(url: string): string {
  const report = `curl ${url}/api/v1/token-entries \\
  -H "Authorization: Bearer $TALLY_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "agent_harness": "claude-code",
    "agent_name": "reviewer",
    "model": "claude-sonnet-4-5",
    "started_at": "2026-11-20T17:53:04Z",
    "ended_at": "2026-11-20T18:20:41Z",
    "tokens": { "input": 522, "output": 228, "cache_read": 20982 },
    "project": "acme-web"
  }'`
  return page({
    title: 'Tally',
    content: html`<h1>Tally is running</h1>
<p class="lead">It records what AI agents use, shows it, and bills for it. Agents report one token entry per session over HTTP.</p>
<section>
<h2>Get a token</h2>
<p>On the machine that Tally runs on, make a person, and a service token that reports entries for them. The token is shown once.</p>
<pre tabindex="0"><code>tally users add --email ada@example.com --name Ada --role admin
TALLY_TOKEN=$(tally tokens create --kind svc --user ada@example.com --name ci)</code></pre>
<p>Nobody here yet? <code>tally serve</code> printed a one-time link that sets Tally up in the browser.</p>
</section>
<section>
<h2>Report a session</h2>
<pre tabindex="0"><code>${report}</code></pre>
<p>The answer is the entry with its cost, valued by the price table where none was reported. <code>tally entries list</code> shows entries, <code>tally usage --by project,model</code> what they add up to.</p>
</section>
<section>
<h2>Read on</h2>
<ul>
<li><a href="/docs">The API</a>, every call with its fields and answers; as <a href="/api/v1/openapi.json">OpenAPI 3.1</a> for programs.</li>
<li><a href="/api/v1/token-entry-schema">The token entry schema</a>, to check a report before it is sent.</li>
<li><a href="/problems/">The problems</a> that a call can meet, and what to do about each.</li>
</ul>
</section>`,
  })
}
