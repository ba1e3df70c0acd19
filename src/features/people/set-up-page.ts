/**
 * The page behind the one-time link: one form for `POST /api/v1/setup`. Whole in itself, because nobody can sign in to
 * anything before it is done. The link's secret stands after the #, so only this script sees it.
 */
import { PASSWORD_MIN } from './rules.ts'

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 26rem; margin: 3rem auto; padding: 0 1rem }
label { display: block; margin-top: 1rem }
input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .4rem .5rem }
button { font: inherit; margin-top: 1.5rem; padding: .4rem 1rem }
#answer { margin-top: 1.5rem; white-space: pre-line }
`

const SCRIPT = `
const form = document.querySelector('form')
const answer = document.querySelector('#answer')
const linkToken = location.hash.slice(1)
form.elements.time_zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')
  const { organization, time_zone, currency, name, email, password } = Object.fromEntries(new FormData(form))
  button.disabled = true
  answer.textContent = ''
  try {
    const response = await fetch('/api/v1/setup', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        link_token: linkToken,
        organization: { name: organization, time_zone, currency: currency.toUpperCase() },
        admin: { name, email, password },
      }),
    })
    const body = await response.json()
    if (response.ok) {
      form.hidden = true
      answer.textContent = body.organization.name + ' is set up, and ' + body.user.name + ' is its admin. Make a service token for the first agent on the machine that runs Tally:\\n\\ntally tokens create --kind svc --user ' + body.user.email + ' --name first'
    } else {
      answer.textContent = body.errors ? body.errors.map(({ pointer, message }) => pointer.split('/').pop().replace('_', ' ') + ' ' + message).join('\\n') : body.detail
    }
  } catch {
    answer.textContent = 'The server did not answer. What you typed is still here: try again.'
  }
  button.disabled = false
  answer.focus()
})
`

const sha256 = (text: string) => `'sha256-${Bun.SHA256.hash(text, 'base64')}'`

/** Nothing runs, loads or frames this page but what is written here. */
export const SET_UP_POLICY = [
  "default-src 'none'",
  `script-src ${sha256(SCRIPT)}`,
  `style-src ${sha256(STYLE)}`,
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

export const SET_UP_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Set Tally up</title>
<style>${STYLE}</style>
<main>
<h1>Set Tally up</h1>
<form>
<label>Organization <input name="organization" required maxlength="200" autocomplete="organization"></label>
<label>Time zone, in which days and months begin <input name="time_zone" required></label>
<label>Currency of bills <input name="currency" value="USD" required minlength="3" maxlength="3"></label>
<label>Your name <input name="name" required maxlength="200" autocomplete="name"></label>
<label>Your e-mail address <input name="email" type="email" required autocomplete="username"></label>
<label>A password of at least ${PASSWORD_MIN} characters <input name="password" type="password" required minlength="${PASSWORD_MIN}" autocomplete="new-password"></label>
<button>Set up</button>
</form>
<p id="answer" role="status" tabindex="-1"></p>
</main>
<script>${SCRIPT}</script>
</html>
`
