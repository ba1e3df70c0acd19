import { Page } from '../../parts/page.tsx'

export default function Section() {
  return <Page title="rules">{null}</Page>
}
