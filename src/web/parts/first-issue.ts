/** Focuses the first invalid field, once it is marked. */
export function focusFirstIssue(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}
