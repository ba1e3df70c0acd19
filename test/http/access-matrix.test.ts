/** Who may call what, by one operation of each class; `binary/authorization.long.test.ts` tries all with everything. */
import { TALLY } from '../../src/access/actor.ts'
import { EVERYBODYS_TOKENS } from '../../src/features/people/service.ts'
import { PASSWORD, testAccess } from '../support/access-matrix.ts'
import { startApp } from '../support/app.ts'

testAccess(async () => {
  const { url, location, services, close } = await startApp({ trustedProxies: ['127.0.0.1'] })
  const { people, prices } = services
  await prices.loadDefaultPrices()
  return {
    url,
    location,
    async addPerson(person) {
      await people.addUser({ ...person, password: PASSWORD }, TALLY)
    },
    async disable(email) {
      await people.disableUser(email, TALLY)
    },
    async setRole(email, role) {
      await people.changeUser(email, { role }, TALLY)
    },
    async createToken(kind, user) {
      const { token, secret } = await people.createToken({ kind, user, name: `${kind} of ${user}` }, TALLY)
      return { id: token.uid, token: secret }
    },
    async revokeToken(id) {
      await people.revokeToken(EVERYBODYS_TOKENS, id, TALLY)
    },
    close,
  }
}, 'every class')
