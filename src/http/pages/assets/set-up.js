import { find, inputOf, openForm, showDone, showNotice } from './form.js'

// After the #, so that the browser sends it to nobody until the form is sent.
const linkToken = location.hash.slice(1)

const typed = (pointer) => inputOf(pointer).value.trim()

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

function done({ user, organization }) {
  const now = new Date()
  showDone('set-up', `${organization.name} is set up`, {
    organization: organization.name,
    name: user.name,
    email: user.email,
    origin: location.origin,
    started: seconds(new Date(now - 60_000)),
    ended: seconds(now),
  })
}

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
  openForm({ path: '/api/v1/setup', request, done })
}
