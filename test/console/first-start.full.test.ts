/** The first start and the next: the hub starts with its defaults, and the links of the hub and of `parley open` open the console. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { buildConsole } from '../../scripts/build-console.ts'
import { runInProcess } from '../hub/run-in-process.ts'
import { newFolder, terminalSkipReason, startHub } from '../hub/running-hub.ts'
import { maxWaitMs } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the first start', async (browser) => {
  if (terminalSkipReason !== false) return void it('needs a terminal', { skip: terminalSkipReason })
  await buildConsole()
  const folder = await newFolder()
  const hub = await startHub(folder, [], {}, true)

  it('prints a link that opens the console signed in once, without the code in any address', async () => {
    const link = /See it in a browser: (\S+)/.exec(await hub.waitForLine(/See it in a browser/))?.[1] ?? ''
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#code=/)
    const context = await browser.newContext()
    context.setDefaultTimeout(maxWaitMs)
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    await page.goto(link)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.getByText('concierge').first().waitFor()
    const code = link.slice(link.indexOf('=') + 1)
    assert.ok(!page.url().includes('code'), page.url())
    assert.ok(asked.every((url) => !url.includes(code)))
    await page.goBack()
    assert.ok(!page.url().includes(code), page.url())
    await context.close()
    const other = await browser.newContext()
    other.setDefaultTimeout(maxWaitMs)
    const second = await other.newPage()
    await second.goto(link)
    await second.getByRole('alert').getByText('The link was used, or its minute has passed.').waitFor()
    await other.close()
  })

  it('prints only the address in a log, and `parley open` signs in after a restart', async () => {
    await hub.stop()
    const again = await startHub(folder)
    assert.match(await again.waitForLine(/See it in a browser/), /browser: http:\/\/127\.0\.0\.1:\d+\/$/)
    const { lines } = await runInProcess(folder, ['open', '--print', '--url', again.url])
    const context = await browser.newContext()
    context.setDefaultTimeout(maxWaitMs)
    const page = await context.newPage()
    await page.goto(again.url)
    await page.getByText(join(folder, '.parley/parley.admin-key')).waitFor()
    // Pasted into the open page: only the fragment changes.
    await page.goto(lines[0] ?? '')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await context.close()
    await again.stop()
  })
})
