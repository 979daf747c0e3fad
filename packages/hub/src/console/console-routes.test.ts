import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createConsole } from './console-routes.ts'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

async function open(t: TestContext, { isBuilt = true, isOn = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-console-'))
  if (isBuilt) {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), `<!doctype html><title>Parley</title>${' '.repeat(500)}`)
    writeFileSync(join(folder, 'assets/page-abc.js'), 'export {}\n'.repeat(100))
    writeFileSync(join(folder, 'pages.json'), JSON.stringify(['tasks', 'settings', 'welcome']))
    writeFileSync(join(folder, 'made-of.txt'), 'a stamp')
  }
  const console = isBuilt ? folder : join(folder, 'nowhere')
  const { pages, notFound } = createConsole({
    folder: pathToFileURL(`${console}/`),
    isEnabled: () => isOn,
    routes(request, response, next) {
      if (request.url === '/healthz') response.writeHead(200).end('ok')
      else next()
    },
  })
  const server = createServer((request, response) => {
    const isLast = request.headers['x-nothing-else'] !== undefined
    if (!(isLast ? notFound : pages)(request, response)) response.writeHead(418).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
    rmSync(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return (path: string, headers: Record<string, string> = html, method = 'GET') =>
    fetch(url + path, { method, headers })
}

describe('the files of the console', () => {
  it('serve the page at every path of the console', async (t) => {
    const get = await open(t)
    for (const path of ['/', '/tasks', '/tasks/1/events?event=3', '/settings/config', '/welcome']) {
      const answer = await get(path)
      assert.equal(answer.status, 200, path)
      assert.match(await answer.text(), /<title>Parley/)
      assert.match(answer.headers.get('vary') ?? '', /Accept/)
    }
  })

  it('are not sent to clients that request no HTML, or another path', async (t) => {
    const get = await open(t)
    const others: [string, Record<string, string>, string][] = [
      ['/tasks/1', { accept: 'application/json' }, 'GET'],
      ['/tasks/1', { accept: '*/*' }, 'GET'],
      ['/', html, 'POST'],
      ['/a2a/echo', html, 'GET'],
      ['/tasksome', html, 'GET'],
      ['/console/made-of.txt', html, 'GET'],
      ['/console/pages.json', html, 'GET'],
      ['/console/../package.json', html, 'GET'],
      ['/console/%2e%2e/package.json', html, 'GET'],
      ['/console/index.html', html, 'GET'],
    ]
    for (const [path, headers, method] of others) assert.equal((await get(path, headers, method)).status, 418, path)
  })

  it('are the page with status 404 for a browser at an address that nothing serves', async (t) => {
    const get = await open(t)
    const last = { ...html, 'x-nothing-else': 'yes' }
    const missing = await get('/no/such/page', last)
    assert.equal(missing.status, 404)
    assert.match(await missing.text(), /<title>Parley/)
    const again = await get('/no/such/page', { ...last, 'if-none-match': missing.headers.get('etag') ?? '' })
    assert.equal(again.status, 404)
    assert.equal(await (await get('/healthz', last)).text(), 'ok')
    const programs: [string, Record<string, string>, string][] = [
      ['/no/such/page', { ...last, accept: '*/*' }, 'GET'],
      ['/no/such/page', last, 'POST'],
      ['/a2a/none', last, 'GET'],
      ['/.well-known/none', last, 'GET'],
      ['/admin/none', last, 'GET'],
    ]
    for (const [path, headers, method] of programs) assert.equal((await get(path, headers, method)).status, 418, path)
    const isOff = await open(t, { isOn: false })
    assert.equal((await isOff('/no/such/page', last)).status, 418)
  })

  it('come zipped, are kept by browsers, and are asked for again only where they may have changed', async (t) => {
    const get = await open(t)
    const asset = await get('/console/assets/page-abc.js', { 'accept-encoding': 'gzip' })
    assert.equal(asset.headers.get('content-encoding'), 'gzip')
    assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(await asset.text(), 'export {}\n'.repeat(100))
    const page = await get('/')
    assert.equal(page.headers.get('cache-control'), 'no-cache')
    const again = await get('/', { ...html, 'if-none-match': page.headers.get('etag') ?? '' })
    assert.deepEqual([again.status, await again.text()], [304, ''])
    const head = await get('/', { ...html, 'accept-encoding': 'identity' }, 'HEAD')
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })

  it('come with a policy that lets the page reach the hub alone', async (t) => {
    const { headers } = await (await open(t))('/')
    const policy = headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
    ]) {
      assert.ok(policy.includes(rule), rule)
    }
    assert.doesNotMatch(policy, /unsafe|https?:|\*/)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
  })

  it('are reported as missing if not built, and are not served if disabled', async (t) => {
    const unbuilt = await (await open(t, { isBuilt: false }))('/')
    assert.equal(unbuilt.status, 503)
    assert.match(await unbuilt.text(), /npm run build-console/)
    assert.equal((await (await open(t, { isOn: false }))('/')).status, 418)
  })
})
