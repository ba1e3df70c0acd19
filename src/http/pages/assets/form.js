// What pages with a form share: sending it, and showing what the server finds wrong beside the fields, with what was
// typed kept.

export const find = (id) => document.getElementById(id)
const form = find('form')
const notice = find('notice')
const button = form.querySelector('button')
const inputs = [...form.querySelectorAll('input')]

export const inputOf = (pointer) => inputs.find(({ name }) => name === pointer)

function showFault(input, message) {
  find(`${input.id}-fault`).textContent = message
  if (message) input.setAttribute('aria-invalid', 'true')
  else input.removeAttribute('aria-invalid')
}

/** With code where the message has it between backquotes. */
export function showNotice(message) {
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

async function send({ path, request, done }) {
  for (const input of inputs) showFault(input, input.value.trim() === '' ? 'Is required.' : '')
  const empty = form.querySelector('[aria-invalid]')
  showNotice('')
  if (empty) {
    empty.focus()
    return
  }
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request()),
  })
  const answer = await response.json()
  if (response.ok) done(answer)
  else if (answer.errors) showFaults(answer.errors)
  else showNotice(answer.detail)
}

/** Shows the form, and posts what `request` makes of it to `path`. `done` is called with the answer to what was taken. */
export function openForm(call) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    try {
      await send(call)
    } catch {
      showNotice('Tally does not answer. What you typed is still here: try again when it runs.')
    } finally {
      button.disabled = false
    }
  })
  // What is wrong with a field is no longer known once it changes.
  form.addEventListener('input', ({ target }) => showFault(target, ''))
  form.hidden = false
  inputs[0].focus()
}

/** Puts the page's second part in the place of the form, with the values in it, and forgets the link, which is used up. */
export function showDone(formId, title, values) {
  for (const span of document.querySelectorAll('[data-fill]')) span.textContent = values[span.dataset.fill]
  document.title = title
  find(formId).hidden = true
  find('done').hidden = false
  find('done').focus()
  scrollTo(0, 0)
  history.replaceState(null, '', location.pathname)
}
