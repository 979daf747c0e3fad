/** `npm run docs:build` builds the whole site: no dead link, no dead fragment, nothing from another host. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { before, describe, it } from 'node:test'
import { pageOf } from '../../site/pages.ts'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'site/dist')
/** A last guard: the build takes half a minute of CPU time, and the installation depends on the network. */
const buildTimeoutMs = 30 * 60_000

describe('the documentation site', () => {
  const html = new Map<string, string>()

  before(
    () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/docs.ts', 'build'], {
        cwd: root,
        encoding: 'utf8',
        timeout: buildTimeoutMs,
      })
      // VitePress exits with an error for every dead link.
      assert.equal(status, 0, `${stdout}\n${stderr}`)
      for (const file of globSync('**/*.html', { cwd: dist })) {
        html.set(file.replaceAll('\\', '/'), readFileSync(join(dist, file), 'utf8'))
      }
    },
    { timeout: buildTimeoutMs },
  )

  it('has a page for every document', () => {
    const missing = globSync(['docs/**/*.md', '*.md'], { cwd: root })
      .map((file) => pageOf(file.replaceAll('\\', '/')))
      .filter((page) => page !== undefined && !html.has(page.replace(/\.md$/, '.html')))
    assert.deepEqual(missing, [])
  })

  it('has the reference of every entry point of the SDK', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'packages/a2a/package.json'), 'utf8')) as { exports: object }
    const sdk = [...html.keys()].filter((file) => file.startsWith('reference/sdk/'))
    assert.equal(sdk.length, Object.keys(exports).length + 1, sdk.join(' '))
    assert.match(html.get('reference/sdk/node.html') ?? '', /@parley\/a2a\/node/)
  })

  it('links every page in the sidebar', () => {
    const sidebar = html.get('guides/run-the-hub.html') ?? ''
    const unlinked = [...html.keys()].filter(
      (file) =>
        !['404.html', 'index.html'].includes(file) &&
        !sidebar.includes(`href="/${file}"`) &&
        !sidebar.includes(`href="/${file.replace(/index\.html$/, '')}"`),
    )
    assert.deepEqual(unlinked, [])
  })

  it('has no link to a missing file or heading', () => {
    const dead: string[] = []
    let links = 0
    for (const [file, text] of html) {
      const [, body = ''] = text.split('<main')
      for (const [, href = ''] of body.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
        if (/^[a-z]+:/i.test(href)) continue
        links += 1
        const [path = '', fragment = ''] = href.split('#')
        const target =
          path === '' ? file : posix.join('.', path.startsWith('/') ? path : posix.join(posix.dirname(file), path))
        const page = html.get(target) ?? html.get(posix.join(target, 'index.html'))
        if (page === undefined && !existsSync(join(dist, target))) dead.push(`${file}: ${href}`)
        if (page !== undefined && fragment !== '' && !page.includes(`id="${decodeURIComponent(fragment)}"`)) {
          dead.push(`${file}: ${href}`)
        }
      }
    }
    assert.deepEqual(dead, [])
    assert.ok(links > 1_000, `${links} links`)
  })

  it('loads nothing from another host', () => {
    const foreign = [...html].flatMap(([file, text]) =>
      [...text.matchAll(/<(?:script|link|img|source|iframe)\b[^>]*?(?:src|href|srcset)="(?:https?:)?\/\/[^"]*"/g)].map(
        ([tag]) => `${file}: ${tag}`,
      ),
    )
    const styles = globSync('**/*.css', { cwd: dist }).filter((file) =>
      /url\(["']?(?:https?:)?\/\//.test(readFileSync(join(dist, file), 'utf8')),
    )
    assert.deepEqual([...foreign, ...styles], [])
  })

  it('has a search index', () => {
    assert.ok(globSync('assets/chunks/@localSearchIndex*.js', { cwd: dist }).length > 0)
  })
})
