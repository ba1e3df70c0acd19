/** The web application's client of the API reads the address of its page when it is imported; tests have no page. */
Object.assign(globalThis, { location: { origin: 'http://tally.test', search: '' } })
