import { inputOf, openForm, showDone, showNotice } from './form.js'

// After the #, so that the browser sends it to nobody until the form is sent.
const linkToken = location.hash.slice(1)

// As it was typed: a space at an end may be meant.
const request = () => ({ link_token: linkToken, password: inputOf('/password').value })

const done = ({ person }) => showDone('choose', 'Signed in', { name: person.name, email: person.email })

if (linkToken === '') {
  showNotice('To choose a password, open the whole one-time link that an admin gave you.')
} else {
  openForm({ path: '/api/v1/password', request, done })
}
