/** A malicious agent: nothing it sends runs, and nothing makes the page send a request. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { hasRunInjectedScript, hasHorizontalScroll, openPlayground, sendText, taskIdOf } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('a malicious agent', async (browser) => {
  const fixture = await openPlayground(browser)

  it('runs no script, sends no request, and covers nothing', async () => {
    const page = await fixture.open('/playground/villain?protocol=1')
    const asked: string[] = []
    const opened: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    page.on('popup', (popup) => void opened.push(popup.url()))
    page.on('dialog', (dialog) => void dialog.dismiss())
    await sendText(page, 'do your worst')
    await page.locator('.question').waitFor()
    await page.getByRole('link', { name: 'good', exact: true }).waitFor()
    for (const item of await page.locator('.talk > li').all()) await item.scrollIntoViewIfNeeded()

    const text = page.locator('.talk .markdown').first()
    assert.equal(
      await page
        .locator('.talk script, .talk iframe, .talk object, .talk style, .talk link, .talk form, .talk svg image')
        .count(),
      0,
    )
    assert.equal(await text.locator('[onclick], [onerror], [onload], [style]').count(), 0)
    assert.equal(await text.locator('img').count(), 0)
    const links = await page.locator('.talk a').evaluateAll((all) =>
      all.map((one) => ({
        href: one.getAttribute('href'),
        target: one.getAttribute('target'),
        rel: one.getAttribute('rel'),
      })),
    )
    const outward = links.filter(({ href }) => href !== null && !href.startsWith('/tasks/'))
    for (const { href, target, rel } of outward) {
      assert.match(href ?? '', /^https:\/\//)
      assert.equal(target, '_blank')
      assert.match(rel ?? '', /noopener noreferrer/)
    }
    assert.ok(
      outward.some(({ href }) => href === 'https://evil.example/track.png'),
      'a picture from elsewhere is a link',
    )
    const child = links.find(({ href }) => href?.startsWith('/tasks/') === true)
    assert.ok(child?.href !== null && !child?.href?.includes('/admin/'))

    // Clicks every link; external ones are blocked.
    await page.context().route('https://**', (route) => route.abort())
    for (const name of ['press me', 'or me', 'data']) await page.getByText(name, { exact: true }).click()
    assert.equal(await hasRunInjectedScript(page), false)
    assert.deepEqual(opened, [])
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(fixture.testHub.url) && !/^(blob|data):/.test(url)),
      [],
    )
    assert.equal(await hasHorizontalScroll(page), false)
    const wide = await page.locator('.chat-scroll').evaluate((element) => element.scrollWidth > element.clientWidth)
    assert.equal(wide, false)
    await page.close()
  })

  it('cannot disguise a file or a page', async () => {
    const page = await fixture.open('/playground/villain')
    await sendText(page, 'names')
    await page.locator('.question').waitFor()
    const kept = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download page.html' }).click()
    assert.equal((await kept).suggestedFilename(), 'page.html')
    const named = await page.getByRole('button', { name: /^Download .*\.svg$/ }).getAttribute('aria-label')
    assert.doesNotMatch(named ?? '', /[/\\<>"]/)
    await page.goto(`${fixture.testHub.url}/tasks/${taskIdOf(page)}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('.talk-made').first().waitFor()
    assert.equal(await hasRunInjectedScript(page), false)
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
