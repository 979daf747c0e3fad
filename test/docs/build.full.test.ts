/** `npm run docs:build` builds the whole site: no dead link, no dead fragment, nothing from another host. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pageOf } from '../../site/pages.ts'
import { searchOptions } from '../../site/search.ts'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'site/dist')
/** A last guard: the build takes half a minute of CPU time, and the installation depends on the network. */
const buildTimeoutMs = 30 * 60_000

interface SearchIndex {
  loadJSON(
    data: string,
    options: object,
  ): { search(words: string): readonly { readonly title: string; readonly titles: readonly string[] }[] }
}

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
    const missing = globSync(['docs/**/*.md', 'examples/*/README.md', '*.md'], { cwd: root })
      .map((file) => pageOf(file.replaceAll('\\', '/')))
      .filter((page) => page !== undefined && !html.has(page.replace(/\.md$/, '.html')))
    assert.deepEqual(missing, [])
  })

  it('has the reference of every entry point of the SDK', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'packages/a2a/package.json'), 'utf8')) as { exports: object }
    const sdk = [...html.keys()].filter((file) => file.startsWith('reference/sdk/'))
    // `./internal` has no page, and the index is one more.
    assert.equal(sdk.length, Object.keys(exports).length, sdk.join(' '))
    assert.match(html.get('reference/sdk/node.html') ?? '', /@parley\/a2a\/node/)
  })

  it('links every page in the sidebar of its part, which has no others', () => {
    const pages = [...html].filter(([file]) => !['404.html', 'index.html'].includes(file))
    const wrong = pages.flatMap(([file, text]) => {
      const [sidebar = ''] = /<aside class="VPSidebar"[\s\S]*?<\/aside>/.exec(text) ?? []
      const links = [...sidebar.matchAll(/href="\/([^"]*)"/g)].map(([, link = '']) =>
        link.replace(/\/$/, '/index.html'),
      )
      const part = file.split('/')[0] ?? ''
      const foreign = links.filter((link) => !link.startsWith(`${part}/`))
      return links.includes(file) && foreign.length === 0 ? [] : [`${file}: ${foreign.slice(0, 3).join(' ')}`]
    })
    assert.deepEqual(wrong, [])
  })

  it('shows the file or the terminal of a code block', () => {
    const page = html.get('tutorials/first-agent.html') ?? ''
    const titles = [...page.matchAll(/<div class="code-title">([^<]*)<\/div>/g)].map(([, title]) => title)
    assert.deepEqual(titles.slice(0, 3), ['agent.ts', 'terminal 1', 'client.ts'])
  })

  it('leads from a page to the next', () => assert.match(html.get('tutorials/first-agent.html') ?? '', /Next page/))

  it('has tabs for package managers and for proxies', () => {
    const tabsOf = (file: string): readonly (string | undefined)[] =>
      [...(html.get(file) ?? '').matchAll(/<label data-title="([^"]*)"/g)].map(([, title]) => title)
    assert.deepEqual(tabsOf('tutorials/first-agent.html'), ['npm', 'pnpm', 'bun'])
    assert.deepEqual(tabsOf('guides/reverse-proxy.html').slice(2, 5), ['deploy/Caddyfile', 'nginx', 'Caddy'])
  })

  it('begins with the program of the README, the picture and how to install', () => {
    const text = (html.get('index.html') ?? '').replaceAll(/<[^>]+>/g, '')
    const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
    assert.ok(unescaped(text).includes(program.trim()), text)
    assert.match(text, /npm ci &amp;&amp; npm start/)
    assert.match(html.get('index.html') ?? '', /<img[^>]*task-light[^>]*>\s*<img[^>]*task-dark/)
  })

  it('has a reference of the SDK that begins with serve, connect and createHandler', () => {
    const headings = [...(html.get('reference/sdk/index.html') ?? '').matchAll(/<h2 id="([^"]*)"/g)]
    assert.deepEqual(
      headings.map(([, id]) => id),
      ['serve', 'connect', 'createhandler', 'all-entry-points'],
    )
  })

  it('has a diagram on the pages that explain', () => {
    for (const name of ['versions', 'durability', 'delegation', 'scale']) {
      assert.match(
        html.get(`explanation/${name}.html`) ?? '',
        new RegExp(`<img src="[^"]*${name}[^"]*\\.svg" alt="[^"]{20,}`),
      )
    }
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

  it('states the supported versions, and the tutorials link there', () => {
    assert.match(html.get('guides/install.html') ?? '', /<h2 id="supported-versions"/)
    assert.match(html.get('tutorials/first-agent.html') ?? '', /href="\/guides\/install\.html#supported-versions"/)
  })

  it('links every example, with its code', () => {
    const examples = globSync('examples/*/README.md', { cwd: root }).map((file) => pageOf(file.replaceAll('\\', '/')))
    const [, list = ''] = (html.get('guides/examples/index.html') ?? '').split('<main')
    for (const page of examples) assert.ok(list.includes(`href="/${page?.replace(/md$/, 'html')}"`), page)
    const greeter = html.get('guides/examples/greeter.html') ?? ''
    assert.match(greeter, /<h3 id="maints"[^]*await[^]*<h3 id="packagejson"/)
  })

  it('has the files of deploy/ that its pages link', () => {
    const unit = readFileSync(join(dist, 'files/deploy/systemd/parley.service'), 'utf8')
    assert.equal(unit, readFileSync(join(root, 'deploy/systemd/parley.service'), 'utf8'))
    const chart = spawnSync('tar', ['-tzf', join(dist, 'files/deploy/helm/parley.tgz')], { encoding: 'utf8' })
    assert.match(chart.stdout, /^parley\/Chart\.yaml$/m)
  })

  it('has a picture for each theme', () => {
    assert.match(
      html.get('guides/console.html') ?? '',
      /<img class="light-only" src="[^"]*task-light[^>]*><img class="dark-only" src="[^"]*task-dark/,
    )
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

  it('finds first the pages that have the word in their title', async () => {
    const [index = ''] = globSync('assets/chunks/@localSearchIndexroot*.js', { cwd: dist })
    const { default: data } = (await import(pathToFileURL(join(dist, index)).href)) as { default: string }
    const fields = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] }
    const { default: MiniSearch } = (await import(
      pathToFileURL(join(root, 'site/node_modules/minisearch/dist/es/index.js')).href
    )) as { default: SearchIndex }
    const search = MiniSearch.loadJSON(data, {
      ...fields,
      searchOptions: { fuzzy: 0.2, prefix: true, ...searchOptions },
    })
    for (const [words, title] of [
      ['webhook', /webhook/],
      ['install', /^Install Parley/],
      ['metrics', /^Metrics reference/],
      ['rotate key', /^Rotate keys/],
    ] as const) {
      const [first] = search.search(words)
      assert.deepEqual(first?.titles, [], `${words}: ${first?.title}`)
      assert.match(first?.title ?? '', title)
    }
  })
})

function unescaped(text: string): string {
  return text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>')
}
