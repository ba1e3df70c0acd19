import { type Html, html } from './html.ts'

interface Field {
  /** Where the value stands in the request, as a JSON pointer: what a fault names. */
  pointer: string
  label: string
  hint?: string
  attributes: Html
}

/** A field of a form with a place for its fault, as `assets/form.js` finds both. */
export function field({ pointer, label, hint, attributes }: Field): Html {
  const id = pointer.slice(1).replaceAll('/', '-')
  const described = [hint ? `${id}-hint` : '', `${id}-fault`].filter(Boolean).join(' ')
  return html`<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${pointer}" required aria-describedby="${described}" ${attributes}>
${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ''}<p class="fault" id="${id}-fault"></p>
</div>
`
}
