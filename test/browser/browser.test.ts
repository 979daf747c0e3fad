/** The client in a real browser against our own server, which is killed and restarted while the page streams. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { Page } from 'playwright-core'
import { bundle } from './bundle.ts'
import type { Bundle } from './bundle.ts'
import { findBrowser } from './chromium.ts'
import type { PageActions } from './page-program.ts'

const found = await findBrowser()

describe('the client in Chromium', 'missing' in found ? { skip: found.missing } : { timeout: 120_000 }, () => {
  if ('missing' in found) return
  const { browser } = found
  let page: Page
  let origin = ''
  let made: Bundle
  let onChunk: (chunk: string) => void = () => {}
  const ends: (() => unknown)[] = [() => browser.close()]

  before(async () => {
    origin = await servePage()
    page = await browser.newPage()
    await page.exposeFunction('onChunk', (chunk: string) => onChunk(chunk))
    await page.goto(origin)
    await page.waitForFunction(() => 'stories' in globalThis)
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })

  it('reads the card across origins, and gets an answer', async () => {
    await using server = await startServer(origin)
    const chosen = await run('card', `${server.url}/a2a/echo`)
    assert.equal(chosen.name, 'Echo')
    assert.equal(chosen.version, '1.0')
    assert.equal(await run('ask', `${server.url}/a2a/echo`, 'hello'), 'You said: hello')
  })

  it('reports a lost network, although the page can load no module then', async () => {
    const server = await startServer(origin)
    await server[Symbol.asyncDispose]()
    const other = await browser.newPage()
    await other.goto(origin)
    await other.waitForFunction(() => 'stories' in globalThis)
    await other.route(`${origin}/**`, (route) => route.abort())
    const lost = (await runIn(other, 'ask', `${server.url}/a2a/echo`, 'hello?')) as {
      code: string
      details: { reason: string }
    }
    assert.equal(lost.code, 'UNAVAILABLE')
    assert.equal(lost.details.reason, 'NETWORK')
    await other.close()
  })

  it('streams live, and receives each chunk once although the server is killed and restarted [B-98 B-109] [full]', async () => {
    const first = await startServer(origin)
    const chunks: string[] = []
    const inTheMiddle = new Promise<void>((resolve) => {
      onChunk = (chunk) => {
        chunks.push(chunk)
        if (chunks.length === 10) resolve()
      }
    })
    const streamed = run('stream', `${first.url}/a2a/counter`, '60')
    await inTheMiddle
    // No more modules can be loaded: everything needed to continue is loaded.
    const site = `${origin}/**`
    await page.route(site, (route) => route.abort())
    await first.kill()
    const before = chunks.length
    await using second = await startServer(origin, first)
    assert.equal(second.url, first.url)
    const { chunks: all, state } = await streamed
    assert.equal(state, 'TASK_STATE_COMPLETED')
    assert.ok(before < 60, `all ${before} had come before the server was killed`)
    assert.deepEqual(
      all,
      Array.from({ length: 60 }, (_, n) => `${n} `),
    )
    assert.deepEqual(chunks, all)
    await page.unroute(site)
  })

  it('loads the card parser while the card is fetched [full]', async () => {
    await using server = await startServer(origin)
    const other = await browser.newPage()
    await other.goto(origin)
    await other.waitForFunction(() => 'stories' in globalThis)
    const reader = other.waitForRequest(`${origin}/${made.fileOf('client/card/read-card.ts')}`)
    await other.route('**/agent-card.json', async (route) => {
      await reader
      await route.continue()
    })
    assert.equal(await runIn(other, 'ask', `${server.url}/a2a/echo`, 'hello'), 'You said: hello')
    await other.close()
  })

  it('stops a subscription on request, and the task continues until it is canceled [B-103] [full]', async () => {
    await using server = await startServer(origin)
    assert.deepEqual(await run('abort', `${server.url}/a2a/counter`), {
      isTyped: false,
      name: 'AbortError',
      chunks: 3,
      state: 'TASK_STATE_WORKING',
      after: 'TASK_STATE_CANCELED',
    })
  })

  it('gets errors with codes: of the agent, of the server and of the network [full]', async () => {
    const server = await startServer(origin)
    const failed = (await run('ask', `${server.url}/a2a/grump`, 'please')) as { code: string; message: string }
    assert.equal(failed.code, 'TASK_FAILED')
    assert.equal(failed.message, 'Not today')
    assert.equal(((await run('lost', `${server.url}/a2a/echo`)) as { code: string }).code, 'TASK_NOT_FOUND')
    await server.kill()
    const gone = (await run('ask', `${server.url}/a2a/grump`, 'hello?')) as {
      code: string
      details: { reason: string }
    }
    assert.equal(gone.code, 'UNAVAILABLE')
    assert.equal(gone.details.reason, 'NETWORK')
    await server[Symbol.asyncDispose]()
  })

  it('is refused by a server that does not list its origin [full]', async () => {
    await using server = await startServer('https://elsewhere.example.com')
    const refused = (await run('ask', `${server.url}/a2a/echo`, 'hello')) as { code: string }
    assert.equal(refused.code, 'UNAVAILABLE')
  })

  it('sends a bearer token, and gets an error when that is not enough [full]', async () => {
    const server = await serve({
      name: 'Protected',
      port: 0,
      store: memoryStore(),
      cors: [origin],
      authenticate: ({ header }) => (header('authorization') === 'Bearer open-sesame' ? { id: 'ali' } : undefined),
      agent: () => 'Come in',
    })
    ends.push(() => server.close())
    assert.equal(await run('ask', server.url, 'knock', { bearer: 'open-sesame' }), 'Come in')
    const refused = (await run('ask', server.url, 'knock', { bearer: 'abracadabra' })) as { code: string }
    assert.equal(refused.code, 'UNAUTHENTICATED')
  })

  async function run<S extends keyof PageActions>(
    story: S,
    ...given: Parameters<PageActions[S]>
  ): Promise<ActionResult<S>> {
    return runIn(page, story, ...given)
  }

  function runIn<S extends keyof PageActions>(
    at: Page,
    story: S,
    ...given: Parameters<PageActions[S]>
  ): Promise<ActionResult<S>> {
    return at.evaluate(
      ([name, args]) =>
        (globalThis as unknown as { stories: Record<string, (...args: unknown[]) => unknown> }).stories[name]?.(
          ...args,
        ),
      [story, given] as [string, unknown[]],
    ) as Promise<ActionResult<S>>
  }

  /** The page and its chunks, each by its name. */
  async function servePage(): Promise<string> {
    made = await bundle(`import './page-program.ts'`)
    const { chunks, entry } = made
    const html = `<!doctype html><title>A page</title><script type="module" src="/${entry}"></script>`
    const site = createServer(({ url = '/' }, response) => {
      const chunk = chunks.get(url.slice(1))
      if (url === '/') response.setHeader('content-type', 'text/html').end(html)
      else if (chunk !== undefined) response.setHeader('content-type', 'text/javascript').end(chunk.text)
      else response.writeHead(404).end()
    })
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    ends.push(() => {
      site.closeAllConnections()
      return new Promise((resolve) => site.close(resolve))
    })
    return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  }
})

type ActionResult<S extends keyof PageActions> = Awaited<ReturnType<PageActions[S]>>

interface Started extends AsyncDisposable {
  readonly url: string
  readonly folder: string
  kill(): Promise<void>
}

/** At the port of a killed one, with its data, or at any port. */
async function startServer(origin: string, instead?: Started): Promise<Started> {
  const folder = instead?.folder ?? (await mkdtemp(join(tmpdir(), 'parley-browser-')))
  const port = instead === undefined ? '0' : new URL(instead.url).port
  const child = fork(join(import.meta.dirname, 'server.ts'), [port, join(folder, 'tasks.db'), origin], {
    execArgv: ['--conditions=parley-source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url))
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url,
    folder,
    kill,
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
