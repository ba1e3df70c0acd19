/** Who reads and changes plans and funding rules. They say what people pay, so members do not read them. */
export const READING = {
  tag: 'Plans',
  allow: { read: ['billing', 'admin'], session: ['billing', 'admin'] },
  scope: 'plans:read',
} as const

export const CHANGING = { tag: 'Plans', allow: { session: ['billing', 'admin'] }, scope: 'plans:write' } as const
