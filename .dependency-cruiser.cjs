/**
 * Module boundaries: which part of Tally may import which. An import that is not allowed here is forbidden, so a new
 * folder starts without any and lists here what it needs.
 */

const FEATURES = [
  'events',
  'changes',
  'audit',
  'organization',
  'people',
  'notifications',
  'projects',
  'trusts',
  'placement',
  'prices',
  'funding',
  'spending',
  'selection',
  'rollup',
  'entries',
  'sheets',
  'bills',
  'reports',
  'budgets',
  'plans',
  'receipts',
  'notices',
  'anomalies',
  'digests',
  'viewers',
  'share-links',
  'webhooks',
  'telemetry',
  'agent-status',
  'personal-data',
  'search',
  'transfer',
  'inbox',
  'overview',
]

/** Everything except `lib` may import these; they know nothing of the layers above. */
const GROUND = ['^src/lib/', '^src/shared/', '^src/schema/', '^src/errors\\.ts$', '^src/metrics\\.ts$']

/** Who calls, who acts, and who sees what. */
const ACCESS = '^src/access/'

/** What Tally does for its callers: see `src/operations/operation.ts`. */
const OPERATIONS = ['^src/operations/', '^src/features/[^/]+/operations/']

/** The database as stores and services use it, without the code that opens an engine. */
const DATABASE = [
  '^src/database/(database|added-value|cached|errors|exact-amounts|exact-sum|dry-run|json-sql|key-ranges|monthly-ids|owed-work|portions|search-pattern|sorting|working-set)\\.ts$',
  '^src/database/schema/(tables|records|values)\\.ts$',
]

/**
 * What other features, the command line and the demonstration may import of a feature: what it does, what it shares beside
 * that, the shapes of its requests and responses, and their examples.
 */
const INTERFACES = [
  '^src/features/[^/]+/(service|contract|schema|parameters|examples)\\.ts$',
  // Tasks that read entries off the main thread, where there are no services.
  '^src/features/entries/listing/store/lists\\.ts$',
  '^src/features/entries/listing/store/search\\.ts$',
  '^src/features/entries/listing/store/long-context-entries\\.ts$',
]

/** In a feature or in one of the parts of a large one: a file, or a folder of several. */
const ROUTES = '^src/features/.+/routes(\\.ts$|/)'
const STORES = '^src/features/.+/store(\\.ts$|/)'

/** Each part by its path, and what it may import from the rest of the project. */
const PARTS = {
  'src/main\\.ts$': [
    '^src/cli/',
    '^src/config\\.ts$',
    '^src/embedded/',
    '^src/slow-tasks\\.ts$',
    '^src/database/engines/slow/process\\.ts$',
    '^src/database/backup/remote/process\\.ts$',
    ...GROUND,
  ],
  'src/cli/': [
    '^src/services\\.ts$',
    '^src/app\\.ts$',
    '^src/config\\.ts$',
    '^src/embedded/',
    '^src/agents/',
    '^src/demo/',
    ACCESS,
    ...OPERATIONS,
    ...INTERFACES,
    // Works without a database, on machines that have none.
    '^src/features/prices/list-value\\.ts$',
    '^src/database/(open|compact|database-place|partition|disk-space|permissions|exit)\\.ts$',
    '^src/database/backup/',
    '^src/database/move/move\\.ts$',
    '^src/database/schema/migrate\\.ts$',
    '^src/database/wrong-database\\.ts$',
    '^src/database/engines/sqlite/one-query\\.ts$',
    ...GROUND,
  ],
  // Acts as people and agents do: through the services. Only the removal of a demonstration knows the database.
  'src/demo/(?!removal\\.ts$)[^/]+$': ['^src/demo/', '^src/services\\.ts$', ACCESS, ...INTERFACES, ...GROUND],
  'src/demo/removal\\.ts$': ['^src/database/', ...GROUND],
  'src/services\\.ts$': [...INTERFACES, '^src/database/(damage|database|ready)\\.ts$', ...GROUND],
  'src/slow-tasks\\.ts$': ['^src/features/', '^src/database/database\\.ts$'],
  'src/app\\.ts$': [
    ROUTES,
    ...OPERATIONS,
    '^src/http/',
    '^src/mcp/',
    '^src/services\\.ts$',
    '^src/embedded/',
    ...GROUND,
  ],
  'src/mcp/': [
    ACCESS,
    ...OPERATIONS,
    '^src/features/[^/]+/schema\\.ts$',
    '^src/http/(json-schema|mcp)\\.ts$',
    ...GROUND,
  ],
  // Knows no feature.
  'src/http/': [ACCESS, '^src/operations/', '^src/embedded/', '^src/database/(caller|errors)\\.ts$', ...GROUND],
  // Knows neither HTTP nor the command line, but who may call and what is documented.
  'src/operations/': ['^src/http/(access|documentation)\\.ts$', ACCESS, ...GROUND],
  'src/features/.+/operations/': [
    '^src/operations/',
    '^src/http/',
    '^src/features/',
    '^src/database/schema/values\\.ts$',
    ACCESS,
    ...GROUND,
  ],
  'src/access/': ['^src/database/(database|schema/(tables|values))\\.ts$', ...GROUND],
  'src/features/.+/routes(\\.ts$|/)': [
    '^src/http/',
    '^src/operations/',
    '^src/features/',
    ACCESS,
    '^src/database/database\\.ts$',
    ...GROUND,
  ],
  'src/features/.+/parameters\\.ts$': ['^src/operations/', '^src/features/', ...DATABASE, ...GROUND],
  'src/features/(?!.*/(routes|operations|parameters|schema)(\\.ts$|/))(?!.*-worker\\.ts$)': [
    '^src/features/',
    ACCESS,
    ...DATABASE,
    ...GROUND,
  ],
  // A worker thread opens its own connection.
  'src/features/.+-worker\\.ts$': ['^src/features/', '^src/database/engines/sqlite/connections\\.ts$', ...GROUND],
  'src/features/.+/schema\\.ts$': [
    '^src/features/',
    ACCESS,
    '^src/database/schema/(tables|records|values)\\.ts$',
    ...GROUND,
  ],
  'src/database/': ['^migrations/', ...GROUND],
  'src/lib/': [],
  // The web application loads some of it as well.
  'src/shared/': ['^src/lib/calendar\\.ts$', '^src/database/schema/values\\.ts$'],
  'src/schema/': ['^src/lib/', '^src/shared/', '^src/errors\\.ts$', '^src/database/schema/values\\.ts$'],
  'src/embedded/': ['^package\\.json$'],
  'src/errors\\.ts$': [],
  'src/metrics\\.ts$': ['^src/lib/'],
  'src/config\\.ts$': ['^src/lib/'],
  // Talks to a server over HTTP; imports only schemas from the server's code (see `agents-know-shapes-only`).
  'src/agents/': ['^src/features/[^/]+/schema\\.ts$', '^src/config\\.ts$', '^src/embedded/version\\.ts$', ...GROUND],
  // A client typed by the server's routes (see `web-knows-the-type-of-the-app-only`), with the same filters of entries.
  'src/web/': [
    '^src/app\\.ts$',
    '^src/shared/charts/',
    '^src/shared/(active-time|agents|billed-reports|change-sentences|cost-basis|days|dimensions|entry-filters|event-types|funding|history-sentences|locales|measures|not-read|people-dimensions|price-texts|report-table|sentences|sheet-fields|token-scopes)\\.ts$',
  ],
  'migrations/': [],
}

const boundaries = Object.entries(PARTS).map(([part, allowed]) => ({
  name: `imports-of-${part.replace(/\\|\$|\.\*/g, '').replace(/\(\?!.*\)/, 'others')}`,
  comment: 'Module boundaries: main → cli → services; app → routes → service → store → database → lib.',
  severity: 'error',
  from: { path: `^${part}` },
  to: {
    path: '^(src|migrations|scripts|test)/|^[^/]+\\.json$',
    pathNot: [...(part.endsWith('/') ? [`^${part}`] : []), ...allowed],
  },
}))

const line = FEATURES.map((feature, position) => ({
  name: `feature-order-${feature}`,
  comment: `Features are ordered and import only earlier ones: ${FEATURES.join(', ')}.`,
  severity: 'error',
  from: { path: `^src/features/${feature}/` },
  to: { path: `^src/features/(?!(${FEATURES.slice(0, position + 1).join('|')})/)` },
}))

const onlyIn = (name, packages, places) => ({
  name,
  comment: `Only ${places.join(', ')} may import it.`,
  severity: 'error',
  from: { path: '^(src|migrations)/', pathNot: places },
  to: { path: packages },
})

module.exports = {
  forbidden: [
    ...boundaries,
    ...line,
    {
      name: 'features-meet-at-interfaces',
      comment: 'The stores, the routes and the inner modules of a feature are private: see INTERFACES.',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/' },
      to: { path: '^src/features/', pathNot: ['^src/features/$1/', ...INTERFACES] },
    },
    {
      name: 'stores-below-services',
      comment: 'routes → service → store, within a feature too.',
      severity: 'error',
      from: { path: STORES },
      to: { path: [ROUTES, '^src/features/.+/service\\.ts$'] },
    },
    {
      name: 'contracts-share-no-queries',
      comment: 'What a feature reads and writes is called through its service.',
      severity: 'error',
      from: { path: '^src/features/[^/]+/contract\\.ts$' },
      to: { path: STORES },
    },
    {
      name: 'routes-call-services',
      comment: 'A business rule in a route would be missing from the command line.',
      severity: 'error',
      from: { path: ROUTES },
      to: { path: STORES },
    },
    {
      name: 'nothing-imports-routes-but-the-app',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/app\\.ts$' },
      to: { path: ROUTES },
    },
    {
      name: 'agents-know-shapes-only',
      comment:
        'src/agents may become a separate program: importing types of the server costs nothing, importing its code would.',
      severity: 'error',
      from: { path: '^src/agents/' },
      to: {
        path: '^src/',
        pathNot: ['^src/agents/', '^src/lib/', '^src/shared/agents\\.ts$', '^src/embedded/version\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'web-knows-the-type-of-the-app-only',
      severity: 'error',
      from: { path: '^src/web/' },
      to: { path: '^src/app\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'other-servers-off-the-main-thread',
      comment: 'What another server sends must not slow down reports: exchange messages with exchangeOnThread.',
      severity: 'error',
      // A command, and the process for remote backups, record nothing. The mail server may send little, and little at a time.
      from: {
        path: '^src/',
        pathNot: [
          '^src/lib/outgoing/',
          '^src/cli/',
          '^src/database/backup/remote/',
          '^src/features/bills/delivery-mailer\\.ts$',
        ],
      },
      to: { path: '^src/lib/outgoing/(connection|exchange|send)\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    onlyIn('requests-only-in-outgoing', '^(node:)?(https?|tls)$|(^|/)node_modules/proxy-from-env/', [
      '^src/lib/outgoing/',
    ]),
    onlyIn('elysia-only-at-the-edge', '(^|/)node_modules/(elysia|@elysiajs)/', [
      '^src/app\\.ts$',
      '^src/http/',
      ROUTES,
      '^src/web/',
    ]),
    onlyIn('drizzle-only-in-stores', '(^|/)node_modules/drizzle-orm/', [
      '^src/access/visibility\\.ts$',
      '^src/database/',
      '^src/demo/removal\\.ts$',
      '^src/features/selection/sql/',
      STORES,
    ]),
    onlyIn('drivers-only-in-the-database', '^bun:sqlite$|(^|/)node_modules/postgres/', [
      '^src/database/',
      '^src/demo/removal\\.ts$',
      // Read the databases of other programs.
      '^src/agents/session-database\\.ts$',
      // An empty one as a lock.
      '^src/agents/watch/lock\\.ts$',
    ]),
    onlyIn('commander-only-in-the-command-line', '(^|/)node_modules/commander/', ['^src/main\\.ts$', '^src/cli/']),
    onlyIn('protocol-only-in-its-route', '(^|/)node_modules/@modelcontextprotocol/', ['^src/http/mcp\\.ts$']),
    onlyIn('figures-only-in-metrics', '(^|/)node_modules/prom-client/', ['^src/metrics\\.ts$']),
    onlyIn('storage-only-in-remote-backups', '(^|/)node_modules/(age-encryption|aws4fetch|@rgrove/parse-xml)/', [
      '^src/database/backup/remote/',
    ]),
    onlyIn('mail-only-in-delivery', '(^|/)node_modules/nodemailer/', ['^src/features/bills/delivery-mailer\\.ts$']),
    onlyIn('pages-only-in-documents', '(^|/)node_modules/(pdfkit|fontkit|bidi-js)/', [
      '^src/features/bills/documents/',
    ]),
    onlyIn('protobuf-only-in-otlp', '(^|/)node_modules/(@bufbuild/protobuf|protobufjs)/', [
      '^src/features/telemetry/otlp/',
      '^src/http/otlp\\.ts$',
    ]),
    onlyIn(
      'browsers-only-in-the-web-application',
      '(^|/)node_modules/(react|react-dom|wouter|dayjs|get-nonce|tinykeys|@(mantine|dnd-kit|tabler|tanstack)/[^/]+)/',
      ['^src/web/'],
    ),
    onlyIn('settings-only-where-hooks-go', '(^|/)node_modules/(jsonc-parser|smol-toml)/', ['^src/agents/install/']),
    onlyIn('patches-only-where-settings-are-shown', '(^|/)node_modules/diff/', ['^src/cli/agents/install\\.ts$']),
    onlyIn('id-tokens-only-in-trusts', '(^|/)node_modules/jose/', ['^src/features/trusts/']),
    onlyIn('expressions-only-in-conditions', '(^|/)node_modules/re2js/', ['^src/features/placement/']),
    { name: 'no-circular-imports', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      comment: 'Nothing imports it and it imports nothing: it is dead code or not connected.',
      severity: 'error',
      from: { orphan: true, path: '^(src|migrations)/', pathNot: '\\.d\\.ts$' },
      to: {},
    },
    { name: 'not-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-undeclared-packages',
      comment: 'A transitive dependency can disappear with the package that needs it: add it to package.json.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Type imports count: a boundary is about what a module knows, not only about what it runs.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    builtInModules: { add: ['bun', 'bun:sqlite', 'bun:test', 'bun:ffi', 'bun:jsc'] },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json', '.sql'],
      exportsFields: ['exports'],
      conditionNames: ['bun', 'import', 'default'],
    },
  },
}
