import { field } from './field.ts'
import { html, page } from './html.ts'

/** The first visitor with the one-time link names the organization and becomes its admin. */
export function setUpPage(): string {
  return page({
    title: 'Set up Tally',
    scripts: ['/assets/set-up.js'],
    content: html`<section id="set-up">
<h1>Set up Tally</h1>
<p class="lead">Name your organization and make its first admin.</p>
<noscript><p class="notice">This page needs JavaScript. Without it, <code>tally users add</code> on the command line makes the first admin.</p></noscript>
<div class="notice" id="notice" role="alert" tabindex="-1" hidden></div>
<form id="form" method="post" novalidate hidden>
<fieldset>
<legend>Organization</legend>
${field({ pointer: '/organization/name', label: 'Name', hint: 'As bills show it.', attributes: html`autocomplete="organization" maxlength="200"` })}
${field({ pointer: '/organization/time_zone', label: 'Time zone', hint: 'Days and months begin in it, in reports and on bills. Type a city.', attributes: html`list="time-zones" autocomplete="off" spellcheck="false" maxlength="100"` })}
<datalist id="time-zones"></datalist>
${field({ pointer: '/organization/currency', label: 'Bill currency', hint: 'What bills are usually in; each can have another. Costs are kept in US dollars.', attributes: html`list="currencies" autocomplete="off" spellcheck="false" autocapitalize="characters" value="USD" maxlength="3"` })}
<datalist id="currencies"></datalist>
</fieldset>
<fieldset>
<legend>You, its first admin</legend>
${field({ pointer: '/admin/name', label: 'Name', attributes: html`autocomplete="name" maxlength="200"` })}
${field({ pointer: '/admin/email', label: 'E-mail', attributes: html`type="email" autocomplete="username" maxlength="254"` })}
${field({ pointer: '/admin/password', label: 'Password', hint: 'At least 10 characters. A few words are easy to remember and hard to guess.', attributes: html`type="password" autocomplete="new-password"` })}
</fieldset>
<button type="submit">Set up</button>
</form>
</section>
<section id="done" tabindex="-1" hidden>
<h1><span data-fill="organization"></span> is set up</h1>
<p class="lead">You are its admin, <span data-fill="name"></span>. Next, let an agent report.</p>
<ol class="steps">
<li><p>On the machine that Tally runs on, make a service token. Entries reported with it are yours. It is shown once.</p>
<pre tabindex="0"><code>tally tokens create --kind svc --user <span data-fill="email"></span> --name first-agent</code></pre></li>
<li><p>Report a session with it.</p>
<pre tabindex="0"><code>curl <span data-fill="origin"></span>/api/v1/token-entries \\
  -H "Authorization: Bearer $TALLY_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{
    "agent_harness": "my-script",
    "agent_name": "first-agent",
    "model": "claude-sonnet-4-5",
    "started_at": "<span data-fill="started"></span>",
    "ended_at": "<span data-fill="ended"></span>",
    "tokens": { "input": 1200, "output": 340 }
  }'</code></pre></li>
<li><p>See it arrive.</p>
<pre tabindex="0"><code>tally entries list</code></pre></li>
</ol>
<p>Every call with its fields and answers is described in <a href="/docs">the API</a>.</p>
</section>`,
  })
}
