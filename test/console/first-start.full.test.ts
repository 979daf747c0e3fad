/** The first start: the hub starts with its defaults, and the link that it prints opens the console. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { buildConsole } from '../../scripts/build-console.ts'
import { newFolder, terminalSkipReason, startHub } from '../hub/running-hub.ts'
import { maxWaitMs } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the first start', async (browser) => {
  if (terminalSkipReason !== false) return void it('needs a terminal', { skip: terminalSkipReason })
  await buildConsole()
  const folder = await newFolder()
  const hub = await startHub(folder, [], {}, true)

  it('prints a link that opens the console signed in, without the key in any address', async () => {
    const link = /See it in a browser: (\S+)/.exec(await hub.waitForLine(/See it in a browser/))?.[1] ?? ''
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#key=/)
    const context = await browser.newContext()
    context.setDefaultTimeout(maxWaitMs)
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    await page.goto(link)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.getByText('concierge').first().waitFor()
    const key = decodeURIComponent(link.slice(link.indexOf('=') + 1))
    assert.ok(!page.url().includes('key'), page.url())
    assert.ok(asked.every((url) => !url.includes(key)))
    await page.goBack()
    assert.ok(!page.url().includes(key), page.url())
    await context.close()
  })

  it('prints only the address once the key exists', async () => {
    await hub.stop()
    const again = await startHub(folder)
    assert.match(await again.waitForLine(/See it in a browser/), /browser: http:\/\/127\.0\.0\.1:\d+\/$/)
  })
})
