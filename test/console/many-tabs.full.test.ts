/** Many tabs of one browser: they share one stream of changes, and it survives the tab that held it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openConsole } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('many tabs', async (browser) => {
  const fixture = await openConsole(browser)
  const streams: string[] = []
  fixture.context.on('request', (request) => {
    if (request.url().endsWith('/admin/events')) streams.push(request.url())
  })

  it('share one stream, all show changes, and continue when the tab that held it is closed', async () => {
    const pages = []
    // More than the six connections that a browser opens to one host.
    for (let tab = 0; tab < 8; tab += 1) {
      const page = await fixture.open('/tasks')
      await page.getByText(/ Live$/).waitFor()
      pages.push(page)
    }
    assert.equal(streams.length, 1)
    await fixture.testHub.send('talker', 'for everybody')
    for (const page of pages) await page.getByText('for everybody').first().waitFor()

    await pages[0]?.close()
    await fixture.testHub.send('talker', 'after the first was closed')
    for (const page of pages.slice(1)) await page.getByText('after the first was closed').first().waitFor()
    assert.equal(streams.length, 2)
    for (const page of pages.slice(1)) await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
