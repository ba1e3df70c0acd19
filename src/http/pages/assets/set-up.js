// Sends the form of /setup and shows what the server finds wrong with it, beside the fields, keeping what was typed.

const find = (id) => document.getElementById(id)
const form = find('form')
const notice = find('notice')
const button = form.querySelector('button')

// After the #, so that the browser sends it to nobody until the form is sent.
const linkToken = location.hash.slice(1)

const inputs = [...form.querySelectorAll('input')]
const inputOf = (pointer) => inputs.find(({ name }) => name === pointer)
const typed = (pointer) => inputOf(pointer).value.trim()

function showFault(input, message) {
  find(`${input.id}-fault`).textContent = message
  if (message) input.setAttribute('aria-invalid', 'true')
  else input.removeAttribute('aria-invalid')
}

/** With code where the message has it between backquotes. */
function showNotice(message) {
  notice.replaceChildren(
    ...message.split('`').map((text, index) => {
      if (index % 2 === 0) return text
      const code = document.createElement('code')
      code.textContent = text
      return code
    }),
  )
  notice.hidden = message === ''
  if (message) notice.focus()
}

/** The API says what a value must be; the label before it says which one is meant. */
const sentence = (message) => `${message[0].toUpperCase()}${message.slice(1)}.`

function showFaults(errors) {
  const elsewhere = []
  for (const { pointer, message } of errors) {
    const input = inputOf(pointer)
    if (input) showFault(input, sentence(message))
    else elsewhere.push(`${pointer} ${message}.`)
  }
  showNotice(elsewhere.join(' '))
  form.querySelector('[aria-invalid]')?.focus()
}

function request() {
  return {
    link_token: linkToken,
    organization: {
      name: typed('/organization/name'),
      time_zone: typed('/organization/time_zone'),
      currency: typed('/organization/currency').toUpperCase(),
    },
    admin: {
      name: typed('/admin/name'),
      email: typed('/admin/email'),
      // As it was typed: a space at an end may be meant.
      password: inputOf('/admin/password').value,
    },
  }
}

const seconds = (date) => `${date.toISOString().slice(0, 19)}Z`

function showDone({ user, organization }) {
  const now = new Date()
  const values = {
    organization: organization.name,
    name: user.name,
    email: user.email,
    origin: location.origin,
    started: seconds(new Date(now - 60_000)),
    ended: seconds(now),
  }
  for (const span of document.querySelectorAll('[data-fill]')) span.textContent = values[span.dataset.fill]
  document.title = `${organization.name} is set up`
  find('set-up').hidden = true
  find('done').hidden = false
  find('done').focus()
  scrollTo(0, 0)
  // The link is used up; nothing of it needs to stay in the browser's history.
  history.replaceState(null, '', '/setup')
}

async function send() {
  for (const input of inputs) showFault(input, input.value.trim() === '' ? 'Is required.' : '')
  const empty = form.querySelector('[aria-invalid]')
  showNotice('')
  if (empty) {
    empty.focus()
    return
  }
  const response = await fetch('/api/v1/setup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request()),
  })
  const answer = await response.json()
  if (response.ok) showDone(answer)
  else if (answer.errors) showFaults(answer.errors)
  else showNotice(answer.detail)
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  button.disabled = true
  try {
    await send()
  } catch {
    showNotice('Tally does not answer. What you typed is still here: try again when it runs.')
  } finally {
    button.disabled = false
  }
})

// What is wrong with a field is no longer known once it changes.
form.addEventListener('input', ({ target }) => showFault(target, ''))

function offer(listId, values) {
  for (const value of values) {
    const option = document.createElement('option')
    option.value = value
    find(listId).append(option)
  }
}

if (linkToken === '') {
  showNotice('To set Tally up, open the one-time link that `tally serve` printed where it was started.')
} else {
  offer('time-zones', Intl.supportedValuesOf('timeZone'))
  offer('currencies', Intl.supportedValuesOf('currency'))
  inputOf('/organization/time_zone').value = Intl.DateTimeFormat().resolvedOptions().timeZone
  form.hidden = false
  inputs[0].focus()
}
