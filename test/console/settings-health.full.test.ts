/** Settings, health: problems and their causes first, then the components of the hub. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freePort } from '../free-port.ts'
import { waitFor } from '../admin/test-hub.ts'
import { openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the health of the hub', async (browser) => {
  const port = await freePort()
  const fixture = await openConsole(browser, { config: { listen: { port, grpcPort: false } } })
  const { testHub } = fixture

  it('is the first of the settings, and reports that all is well', async () => {
    const page = await fixture.open('/settings')
    await page.getByRole('heading', { name: 'Healthy' }).waitFor()
    assert.equal(await page.title(), 'Health · Settings · Parley')
    await page.getByText('6 of 6 up').waitFor()
    await page.getByText(/Parley \d+\.\d+\.\d+, Node \d+/).waitFor()
    await page.getByText('1.0, 0.3, 0.2').waitFor()
    await page.getByText(/responds in/).waitFor()
    await page.close()
  })

  it('counts tasks by state live, and links to them', async () => {
    const page = await fixture.open('/settings/health')
    await page.getByText('No tasks yet.').waitFor()
    await testHub.send('talker', 'hello')
    await testHub.send('talker', 'ask me')
    await page.getByRole('link', { name: 'completed 1' }).waitFor()
    await page.getByRole('link', { name: 'input 1' }).click()
    await page.waitForURL('**/tasks?state=TASK_STATE_INPUT_REQUIRED')
    await page.close()
  })

  it('names an agent that cannot be called, with the cause and a link', async () => {
    const page = await fixture.open('/settings/health')
    await page.getByRole('heading', { name: 'Healthy' }).waitFor()
    const entry = { kind: 'a2a', url: 'http://127.0.0.1:9' }
    assert.equal((await testHub.ask('POST', '/admin/agents', { name: 'gone', entry })).status, 201)
    await page.getByRole('heading', { name: '1 issue' }).waitFor()
    const finding = page.getByRole('listitem').filter({ hasText: /gone (failed to start|is not responding)/ })
    await finding.getByText('issue').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    // Nothing moves after it is shown: the page waits for the agents, which are asked for together with the health.
    const health = Promise.withResolvers<void>()
    await page.route('**/admin/agents', async (route) => {
      await health.promise
      await route.continue()
    })
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('/admin/health')) health.resolve()
    })
    await page.reload()
    await finding.getByText('issue').waitFor()
    const shift = await page.evaluate<number>(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => {
      const observer = new PerformanceObserver(() => {})
      observer.observe({ type: 'layout-shift', buffered: true })
      resolve(observer.takeRecords().reduce((sum, { value }) => sum + value, 0))
    })))`)
    assert.ok(shift < 0.005, `layout shift ${shift}`)
    await finding.getByRole('link', { name: 'Open agent' }).click()
    await page.waitForURL('**/agents/gone')
    await page.close()
    await testHub.ask('DELETE', '/admin/agents/gone')
  })

  it('reports that the hub is unreachable, and recovers when it is back', async () => {
    // A browser logs an error for every failed request; here the failure is intended.
    const page = await fixture.context.newPage()
    await page.goto(`${testHub.url}/settings/health`)
    await page.getByRole('heading', { name: 'Healthy' }).waitFor()
    await page.evaluate(() => ((globalThis as any).isTheSamePage = true))
    const instance = await page.locator('.id').first().textContent()
    await testHub.hub.close()
    await page.getByText(/Disconnected, reconnecting…$/).waitFor()
    await page.getByRole('heading', { name: 'The hub is not responding' }).waitFor()
    await page.getByText('The hub cannot be reached', { exact: true }).waitFor()
    await testHub.restart()
    await page.getByText(/ Live$/).waitFor()
    await page.getByRole('heading', { name: 'Healthy' }).waitFor()
    const shown = (): Promise<string | null> => page.locator('.id').first().textContent()
    await waitFor(async () => ((await shown()) === instance ? undefined : true), 'another instance')
    await testHub.send('talker', 'after the restart')
    await page.getByRole('link', { name: 'completed 2' }).waitFor()
    assert.equal(await page.evaluate(() => (globalThis as any).isTheSamePage), true)
    await page.close()
  })

  it('counts an agent whose tasks fail as not up, as the overview does', async () => {
    for (const text of ['fail', 'hi', 'fail', 'hi', 'fail']) await testHub.send('talker', text)
    const page = await fixture.open('/settings/health')
    await page.getByText('5 of 6 up').waitFor()
    await page.goto(`${testHub.url}/overview`)
    await page.getByRole('link', { name: /^5 \/ 6 agents up/ }).waitFor()
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`is accessible, ${theme} and narrow`, async () => {
      for (const width of [1280, 390]) {
        const page = await fixture.open('/settings/health', { theme, width })
        await page.getByRole('heading', { name: 'Components' }).waitFor()
        assert.deepEqual(await seriousViolations(page), [])
        assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
        await page.close()
      }
    })
  }

  it('has no settings of other names', async () => {
    const page = await fixture.open('/settings/nonsense')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
