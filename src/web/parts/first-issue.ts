/** Leads to the first field with an issue, once it is marked as such. */
export function focusFirstIssue(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}
