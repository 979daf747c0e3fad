import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { openBrowser } from './open-browser.ts'
import { openConsole, type OpenBrowser } from './open-command.ts'
import { createTestTerminal, testFlags } from '../testing/test-terminal.ts'

/** A hub that knows this one request. */
async function scene(t: TestContext, hasBrowser: boolean) {
  const server = createServer((request, response) => {
    const isExpected = request.headers.authorization === 'Bearer k' && request.method === 'POST'
    response.writeHead(isExpected && request.url === '/admin/session/code' ? 201 : 500)
    response.end(JSON.stringify({ path: '/#code=abc', expiresAt: '2030-01-01T00:01:00.000Z' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const opened: string[] = []
  const browser: OpenBrowser = async (link) => {
    opened.push(link)
    return hasBrowser
  }
  const terminal = createTestTerminal({ environment: { PARLEY_URL: url, PARLEY_ADMIN_KEY: 'k' } })
  const run = (...words: string[]) => openConsole(testFlags('open', ...words), terminal, browser)
  return { run, terminal, opened, link: `${url}/#code=abc` }
}

describe('parley open', () => {
  it('opens the link in a browser, and does not print the code', async (t) => {
    const { run, terminal, opened, link } = await scene(t, true)
    assert.equal(await run(), 0)
    assert.deepEqual(opened, [link])
    assert.match(terminal.printed.join(), /^Opened http:\S+ in a browser/)
    assert.ok(![...terminal.printed, ...terminal.errors].some((line) => line.includes('abc')))
  })

  it('prints the link if there is no browser', async (t) => {
    const { run, terminal, link } = await scene(t, false)
    assert.equal(await run(), 0)
    assert.deepEqual(terminal.printed, [link])
    assert.match(terminal.errors.join(), /once, within a minute/)
  })

  it('opens nothing with --print and with -o json', async (t) => {
    const { run, terminal, opened, link } = await scene(t, true)
    assert.equal(await run('--print'), 0)
    assert.equal(await run('-o', 'json'), 0)
    assert.deepEqual(opened, [])
    assert.equal(terminal.printed[0], link)
    assert.deepEqual(JSON.parse(terminal.printed.slice(1).join('\n')), {
      url: link,
      expiresAt: '2030-01-01T00:01:00.000Z',
    })
  })
})

describe('the browser of the desktop', () => {
  const url = 'http://127.0.0.1:3000/'
  const path = { PATH: process.env['PATH'] }

  it('is the one of BROWSER, if it starts and succeeds', async () => {
    assert.equal(await openBrowser(url, { ...path, BROWSER: 'true', SSH_CONNECTION: 'x' }), true)
    assert.equal(await openBrowser(url, { ...path, BROWSER: 'false' }), false)
    assert.equal(await openBrowser(url, { ...path, BROWSER: 'no-program-of-this-name' }), false)
  })

  it('is none without a display, and none at the other end of ssh', async () => {
    assert.equal(await openBrowser(url, path, 'linux'), false)
    assert.equal(await openBrowser(url, { ...path, DISPLAY: ':0', SSH_CONNECTION: 'x' }, 'linux'), false)
    assert.equal(await openBrowser(url, { ...path, SSH_CONNECTION: 'x' }, 'darwin'), false)
  })
})
