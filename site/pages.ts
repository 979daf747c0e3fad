/**
 * The pages of the site: which file of the repository becomes which page, and the sidebar of each part. A sidebar follows from the
 * folders and the first heading of each page, so a new page in docs/ appears without an edit here; `order` only says which pages come
 * first.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { slugOf } from './slug.ts'

export interface SidebarItem {
  readonly text: string
  readonly link?: string
  readonly items?: SidebarItem[]
  readonly collapsed?: boolean
}

/** Pages that are not in docs/. */
const otherPages: Readonly<Record<string, string>> = {
  'site/index.md': 'index.md',
  'ARCHITECTURE.md': 'contributing/architecture.md',
  'CONTRIBUTING.md': 'contributing/contributing.md',
  'CHANGELOG.md': 'contributing/changelog.md',
  'examples/README.md': 'guides/examples/index.md',
}

/** Where `npm run docs:build` writes the reference of the SDK. Git ignores the folder. */
export const sdkFolder = 'site/sdk'
const sdkPages = 'reference/sdk'

/** Pages under a common title. */
interface PageGroup {
  readonly title: string
  readonly pages: readonly string[]
}

/** A part of the site: a folder, and the pages or groups that come first in it. The other pages follow by title. */
interface SitePart {
  readonly folder: string
  readonly title: string
  readonly order: readonly (string | PageGroup)[]
}

export const parts: readonly SitePart[] = [
  {
    folder: 'tutorials',
    title: 'Tutorials',
    order: ['first-agent', 'command-line', 'hub-of-three-kinds', 'agents-that-call-agents', 'from-a2a-js-sdk'],
  },
  {
    folder: 'guides',
    title: 'Guides',
    order: [
      {
        title: 'Run the hub',
        pages: [
          'install',
          'run-the-hub',
          'configure-agents',
          'agents',
          'ollama',
          'claude-code-acp',
          'cards-and-grpc',
          'delegate-work',
          'mcp',
          'console',
          'console-screenshots',
        ],
      },
      {
        title: 'Operate',
        pages: [
          'deploy',
          'production-checklist',
          'reverse-proxy',
          'run-replicas',
          'high-availability',
          'connection-limits',
          'upgrade',
          'back-up-and-restore',
          'move-between-stores',
          'verify-a-store',
          'retention',
          'erase-a-caller',
          'monitor-the-hub',
          'telemetry',
          'export-the-audit',
          'debug-a-stuck-task',
        ],
      },
      { title: 'Secure', pages: ['hub-access', 'auth', 'secrets', 'rotate-keys', 'signed-cards'] },
      {
        title: 'Write agents',
        pages: [
          'write-an-agent',
          'serve-options',
          'express-rxjs',
          'nestjs',
          'examples',
          'frameworks',
          'simple',
          'write-a-store',
        ],
      },
      {
        title: 'Call agents',
        pages: [
          'clients',
          'client-streams',
          'conversations',
          'client-auth',
          'client-http',
          'call-with-curl',
          'sdks',
          'legacy-v03-draft',
        ],
      },
      {
        title: 'Command line',
        pages: ['coding-agents', 'check-an-agent', 'cli-credentials', 'cli-server'],
      },
      { title: 'Webhooks', pages: ['push', 'receive-webhooks', 'webhook-receiver'] },
    ],
  },
  {
    folder: 'reference',
    title: 'Reference',
    order: [
      'sdk',
      'cli',
      'a2a-command',
      'cli-compliance',
      'hub-settings',
      'configuration',
      'errors',
      'metrics',
      'admin',
      'admin-api',
      'extensions',
      'dump-format',
      'glossary',
    ],
  },
  {
    folder: 'explanation',
    title: 'Explanation',
    order: ['durability', 'versions', 'delegation', 'scale', 'security', 'performance'],
  },
  {
    folder: 'contributing',
    title: 'Contributing',
    order: ['contributing', 'architecture', 'testing', 'release', 'conformance', 'requirements', 'changelog'],
  },
]

/** Titles of folders inside a part; else the name of the folder. */
const folderTitles: Readonly<Record<string, string>> = {
  'guides/deploy': 'Deploy',
  'guides/frameworks': 'Agent frameworks',
  'guides/agents': 'Agent kinds',
  'guides/examples': 'Examples',
  'contributing/conformance': 'Conformance',
  'reference/sdk': 'SDK',
}

/** The page that a file becomes, both relative: docs/guides/auth.md is guides/auth.md. `undefined`: not a page of the site. */
export function pageOf(file: string): string | undefined {
  if (!file.endsWith('.md')) return undefined
  if (Object.hasOwn(otherPages, file)) return otherPages[file]
  const [, example] = /^examples\/([^/]+)\/README\.md$/.exec(file) ?? []
  if (example !== undefined) return `guides/examples/${example}.md`
  if (file.startsWith('docs/')) return file.slice('docs/'.length)
  if (file.startsWith(`${sdkFolder}/`)) return `${sdkPages}${file.slice(sdkFolder.length)}`
  return undefined
}

/** Patterns of everything at `root` that is not a page, for the search of VitePress. */
export function notPages(root: string): string[] {
  const ownFolders = ['docs', 'site']
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) {
      if (ownFolders.includes(entry.name)) return []
      // The README of an example is a page.
      return [entry.name === 'examples' ? 'examples/*/*/**' : `${entry.name}/**`]
    }
    return pageOf(entry.name) === undefined ? [entry.name] : []
  })
}

/** The path of a linked file from the root of the repository. */
export function linkTarget(file: string, href: string): string {
  const [path = ''] = href.split('#')
  return posix.join(posix.dirname(file), decodeURI(path)).replace(/\/$/, '')
}

/** The target of a link from a file: the address of a page, or `undefined` if the site has no such page. */
export function siteLink(file: string, href: string): string | undefined {
  const [, fragment] = href.split('#')
  const target = linkTarget(file, href)
  const page = pageOf(target)
  if (page !== undefined) return `/${page}${fragment === undefined ? '' : `#${fragment}`}`
  // The page of an example shows its files.
  const [, example, shown] = /^examples\/([^/]+)(?:\/([^/]+))?$/.exec(target) ?? []
  if (example === undefined) return undefined
  return `/${pageOf(`examples/${example}/README.md`)}${shown === undefined ? '' : `#${slugOf(shown)}`}`
}

/** The sidebar of each part that has pages, by the address of the part. */
export function sidebarsOf(root: string): Record<string, SidebarItem[]> {
  const files = globSync([...Object.keys(otherPages), 'examples/*/README.md', 'docs/**/*.md', `${sdkFolder}/**/*.md`], {
    cwd: root,
  })
  const titles = new Map<string, string>()
  for (const file of files.map((file) => file.replaceAll('\\', '/'))) {
    const page = pageOf(file)
    if (page !== undefined) titles.set(page, titleOf(readFileSync(join(root, file), 'utf8')) ?? page)
  }
  const sidebars = parts.map(({ folder, order }) => [`/${folder}/`, itemsIn(folder, order, titles)] as const)
  return Object.fromEntries(sidebars.filter(([, items]) => items.length > 0))
}

function itemsIn(folder: string, order: SitePart['order'], titles: ReadonlyMap<string, string>): SidebarItem[] {
  const named = new Map<string, SidebarItem>()
  for (const [page, text] of titles) {
    if (!page.startsWith(`${folder}/`)) continue
    const [name = '', ...rest] = page.slice(folder.length + 1).split('/')
    if (rest.length === 0) named.set(name.slice(0, -'.md'.length), { text, link: `/${page.slice(0, -'.md'.length)}` })
    else if (!named.has(name)) named.set(name, subfolder(`${folder}/${name}`, titles))
  }
  /** Each page has one place. */
  const take = (name: string): SidebarItem[] => {
    const item = named.get(name)
    named.delete(name)
    return item === undefined ? [] : [item]
  }
  const first = order.flatMap((entry): SidebarItem[] => {
    if (typeof entry === 'string') return take(entry)
    const items = entry.pages.flatMap(take)
    return items.length === 0 ? [] : [{ text: entry.title, collapsed: true, items }]
  })
  return [...first, ...[...named.values()].sort((one, other) => one.text.localeCompare(other.text))]
}

/** A folder inside a part. Its index is the page of the folder itself. */
function subfolder(folder: string, titles: ReadonlyMap<string, string>): SidebarItem {
  const index = titles.get(`${folder}/index.md`)
  const items = itemsIn(folder, [], titles).filter(({ link }) => link !== `/${folder}/index`)
  return {
    text: folderTitles[folder] ?? folder.slice(folder.lastIndexOf('/') + 1),
    ...(index === undefined ? {} : { link: `/${folder}/` }),
    collapsed: true,
    items,
  }
}

/** The first heading, as plain text. */
export function titleOf(markdown: string): string | undefined {
  const [, heading] = /^# +(.+?)\s*#*$/m.exec(markdown) ?? []
  return heading?.replaceAll(/[`*]/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}
