import type { Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { SEARCH_OPTIONS } from './search.ts'
import './style.css'

export default {
  extends: theme,
  // Not in the configuration: VitePress compiles its functions in the browser, which Tally's pages may not do.
  enhanceApp({ siteData }) {
    siteData.value.themeConfig.search.options = { miniSearch: { searchOptions: SEARCH_OPTIONS } }
  },
} satisfies Theme
