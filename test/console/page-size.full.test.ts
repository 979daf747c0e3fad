/** The cost of a page: at most 105 kB of compressed script at its first load; the time until it is usable is printed. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { maxWaitMs, openConsole } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const isLongMode = process.env['PARLEY_FULL'] === '1'

const mostBytes = 105_000
/** One load gives the size; the time is the median of several. */
const loads = isLongMode ? 5 : 1

interface Loaded {
  readonly scriptBytes: number
  readonly styleBytes: number
  readonly readyMs: number
}

/** In the page: the transferred bytes, and when its content appeared. */
const measure = `({
  scriptBytes: performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).reduce((sum, one) => sum + one.encodedBodySize, 0),
  styleBytes: performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.css')).reduce((sum, one) => sum + one.encodedBodySize, 0),
  readyMs: performance.now(),
})`

/** What the content of a page needs besides, such as the renderer of its Markdown, is loaded once the content is there. */
function watchScripts(page: Page): () => Promise<void> {
  const loading = new Map<Request, PromiseWithResolvers<void>>()
  const settle = (request: Request): void => {
    loading.get(request)?.resolve()
    loading.delete(request)
  }
  page.on('request', (request) => {
    if (request.url().endsWith('.js')) loading.set(request, Promise.withResolvers<void>())
  })
  page.on('requestfinished', settle)
  page.on('requestfailed', settle)
  return async () => {
    do {
      await Promise.all([...loading.values()].map(({ promise }) => promise))
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    } while (loading.size > 0)
  }
}

describeInBrowser('the first load of a page', async (browser) => {
  const fixture = await openConsole(browser)
  const { id } = await fixture.testHub.send('artist', 'all')
  // Of another caller: with its question, the page of a task and the playground need most.
  const { id: asked } = await fixture.testHub.send('concierge', 'A table for two')

  type PageCase = readonly [path: string, shows: string]
  const largePages: readonly PageCase[] = [
    ['/welcome', 'talker'],
    ['/overview', 'Response time'],
    ['/playground/talker', 'Send'],
    [`/playground/artist?task=${id}`, 'dot.png'],
    [`/tasks/${id}`, 'dot.png'],
    [`/tasks/${asked}`, 'can answer'],
    ['/settings/config', 'agents'],
    ['/agents/gpt/settings', 'baseUrl'],
  ]
  const otherPages: readonly PageCase[] = [
    ['/agents', 'shout'],
    ['/agents/artist', 'Draw'],
    ['/tasks', 'artist'],
    [`/tasks/${id}/events`, 'artifact'],
    ['/traces', 'artist'],
    ['/webhooks', 'Webhooks'],
    ['/settings/health', 'Store'],
  ]
  for (const [path, shows] of [...largePages, ...(isLongMode ? otherPages : [])])
    it(`${path.replace(/[0-9a-f-]{36}/, '…')} loads at most 105 kB of script`, async () => {
      const times: number[] = []
      let last: Loaded = { scriptBytes: Infinity, styleBytes: 0, readyMs: 0 }
      for (let load = 0; load < loads; load += 1) {
        // A new context has no cache.
        const context = await browser.newContext({ storageState: await fixture.context.storageState() })
        context.setDefaultTimeout(maxWaitMs)
        const page = await context.newPage()
        const areScriptsLoaded = watchScripts(page)
        await page.goto(fixture.testHub.url + path)
        await page.getByText(shows).first().waitFor({ state: 'attached' })
        await areScriptsLoaded()
        last = await page.evaluate<Loaded>(measure)
        times.push(last.readyMs)
        await context.close()
      }
      const median = times.sort((a, b) => a - b)[Math.floor(loads / 2)] ?? 0
      const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`
      console.log(
        `${path.replace(/[0-9a-f-]{36}/, '…').padEnd(20)} script ${kilobytes(last.scriptBytes)}, style ${kilobytes(last.styleBytes)}, there after ${Math.round(median)} ms`,
      )
      assert.ok(last.scriptBytes > 0 && last.scriptBytes <= mostBytes, kilobytes(last.scriptBytes))
    })
})
