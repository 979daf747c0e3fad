/** The documentation site. Its pages are the files of docs/, and a few others (pages.ts). */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { codeBlocks } from '../code-blocks.ts'
import { longNames } from '../long-names.ts'
import { pageText } from '../page-text.ts'
import { notPages, pageOf, parts, sidebarsOf, type SidebarItem } from '../pages.ts'
import { searchOptions } from '../search.ts'
import { slugOf } from '../slug.ts'
import { copyDownloads, sourceLinks } from '../source-links.ts'

const root = join(import.meta.dirname, '../..')
const require = createRequire(import.meta.url)
const sidebar = sidebarsOf(root)
const downloads = new Set<string>()

/** The first page of a part, for the navigation. */
const firstLink = ({ link, items = [] }: SidebarItem): string =>
  link ?? (items[0] === undefined ? '/' : firstLink(items[0]))

export default defineConfig({
  title: 'Parley',
  description: 'A self-hosted A2A hub and TypeScript SDK',
  lang: 'en',
  // Pages come from docs/ and from the root, so the root is the folder of sources; `rewrites` gives each page its address.
  srcDir: '..',
  srcExclude: [...notPages(root), 'site/README.md'],
  rewrites: (page) => pageOf(page) ?? page,
  outDir: 'dist',
  cacheDir: '.vitepress/cache',
  cleanUrls: false,
  ignoreDeadLinks: false,
  lastUpdated: false,
  markdown: {
    anchor: { slugify: slugOf },
    config: (markdown) => {
      pageText(markdown, root)
      codeBlocks(markdown)
      sourceLinks(markdown, root, downloads)
      longNames(markdown)
    },
  },
  buildEnd: ({ outDir }) => copyDownloads(root, downloads, outDir),
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true, miniSearch: { searchOptions } } },
    nav: parts.map(({ folder, title }) => ({
      text: title,
      link: firstLink({ text: title, items: sidebar[`/${folder}/`] }),
      activeMatch: `^/${folder}/`,
    })),
    sidebar,
    outline: { level: [2, 3] },
  },
  vite: {
    publicDir: join(import.meta.dirname, '../public'),
    resolve: {
      // The pages are outside site/, where an import of Vue would find no package.
      alias: [
        { find: /^vue\/server-renderer$/, replacement: require.resolve('vue/server-renderer') },
        { find: /^vue$/, replacement: join(require.resolve('vue/package.json'), '../dist/vue.runtime.esm-bundler.js') },
      ],
    },
    // A diagram is a file that a browser caches, and not a part of its page.
    build: { chunkSizeWarningLimit: 4_000, target: 'es2022', assetsInlineLimit: 0 },
  },
})
