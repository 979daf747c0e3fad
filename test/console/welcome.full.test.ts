/** First run: from a new hub with its demo agents to one in use, and the overview over time after that. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { demoConfig } from '../../packages/hub/src/demo/index.ts'
import { openCardServer } from './card-server.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the first run', async (browser) => {
  const forecast = await openCardServer()
  const fixture = await openConsole(browser, { config: demoConfig })
  const { testHub } = fixture
  const step = (page: Page, title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title, level: 2 }) })

  it('begins on the first page, with the available agents', async () => {
    const page = await fixture.open('/')
    await page.waitForURL('**/welcome')
    await page.getByRole('heading', { name: 'Welcome to Parley', level: 1 }).waitFor()
    for (const name of ['Echo', 'Clock', 'Concierge', 'Rehearsal']) {
      await step(page, 'Meet the agents').getByRole('heading', { name, level: 3 }).waitFor()
    }
    await page.getByRole('heading', { name: 'Meet the agents (done)' }).waitFor()
    await page.getByRole('heading', { name: 'Send a first message', exact: true }).waitFor()
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`has no serious violation in ${theme} colours, on a screen and on a phone`, async () => {
      for (const width of [1280, 390]) {
        const page = await fixture.open('/welcome', { theme, width })
        await step(page, 'Add your own agent').waitFor()
        assert.deepEqual(await seriousViolations(page), [])
        assert.ok(await hasNoHorizontalScroll(page))
        await page.close()
      }
    })
  }

  it('leads by keyboard alone to a first message, its answer and its task', async () => {
    const page = await fixture.open('/welcome')
    await page.getByLabel('Message').fill('Good morning')
    await page.getByLabel('Message').press('Enter')
    const talk = step(page, 'Send a first message')
    assert.equal(await talk.getByText('Good morning').nth(1).innerText(), 'Good morning')
    await talk.getByText('Your task is in the log').waitFor()
    await talk.getByText('completed').waitFor()
    await page.getByRole('heading', { name: 'Send a first message (done)' }).waitFor()
    const { json } = await testHub.ask('GET', '/admin/tasks')
    assert.equal(json.tasks[0].caller, 'console|admin')
    const link = talk.getByRole('link', { name: 'Show all events' })
    assert.equal(await link.getAttribute('href'), `/tasks/${json.tasks[0].id}`)
    await page.close()
  })

  it('shows an answer as it is streamed, and the question of an agent', async () => {
    const page = await fixture.open('/welcome?agent=clock&text=2')
    await page.getByRole('button', { name: 'Send' }).click()
    const talk = step(page, 'Send a first message')
    await talk.getByText('working').waitFor()
    await talk.getByText('completed').waitFor()
    await page.getByLabel('Agent', { exact: true }).selectOption('concierge')
    assert.match(page.url(), /agent=concierge/)
    await page.getByLabel('Message').fill('A table, please')
    await page.getByRole('button', { name: 'Send' }).click()
    await talk.getByText('For which city, and for how many people?').waitFor()
    await talk.getByText('input', { exact: false }).first().waitFor()
    await page.close()
  })

  it('shows which steps are done', async () => {
    const page = await fixture.open('/welcome')
    await page.getByRole('heading', { name: 'Send a first message (done)' }).waitFor()
    await page.getByRole('heading', { name: 'Add your own agent', exact: true }).waitFor()
    await page.close()
  })

  it('ends with an agent of the user, detected and added on the page', async () => {
    const page = await fixture.open('/welcome')
    await page.getByLabel('URL, command or file').fill(forecast.url)
    await page.getByRole('button', { name: 'Detect' }).click()
    await page.getByRole('button', { name: 'Add forecast' }).click()
    const last = step(page, 'Add your own agent')
    await last.getByText('added').waitFor()
    await page.getByRole('heading', { name: 'Add your own agent (done)' }).waitFor()
    assert.equal(await last.getByRole('link', { name: 'Try it' }).getAttribute('href'), '/playground/forecast')
    await page.getByRole('button', { name: 'Open overview' }).last().click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.close()
  })

  describe('the overview after the first steps', () => {
    const chart = (page: Page, name: string) =>
      page.getByRole('figure').filter({ has: page.getByRole('heading', { name }) })
    const numbers = (page: Page) => page.getByRole('list', { name: 'Now' })

    it('is the first page, live: agents, current tasks and charts', async () => {
      const page = await fixture.open('/')
      await page.waitForURL('**/overview')
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      await numbers(page)
        .getByRole('link', { name: /^5 \/ 5 agents up/ })
        .waitFor()
      await numbers(page)
        .getByRole('link', { name: /^0 tasks working/ })
        .waitFor()
      await testHub.call('clock', 'SendMessage', {
        message: { messageId: 'o', role: 'ROLE_USER', parts: [{ text: '60' }] },
        configuration: { returnImmediately: true },
      })
      await numbers(page)
        .getByRole('link', { name: /^1 tasks working/ })
        .waitFor()
      const { json } = await testHub.ask('GET', '/admin/tasks?agent=clock&state=TASK_STATE_WORKING')
      await testHub.ask('POST', `/admin/tasks/${json.tasks[0].id}/cancel`)
      await numbers(page)
        .getByRole('link', { name: /^0 tasks working/ })
        .waitFor()
      for (const name of ['Requests', 'Response time', 'Errors', 'Open streams', 'Tokens', 'Cost'])
        await chart(page, name).locator('svg').waitFor()
      await chart(page, 'Requests')
        .getByText(/^\d+ requests in the last hour, at most \d+ \/ min at \d\d:\d\d\.$/)
        .waitFor()
      await chart(page, 'Response time')
        .getByText(/^p50 .* · p95 /)
        .waitFor()
      await chart(page, 'Requests').locator('.stat-chart-bars[d^=M]').waitFor({ state: 'attached' })
      await chart(page, 'Response time').locator('.stat-chart-line[d^=M]').first().waitFor({ state: 'attached' })
      // The value under the pointer is shown in all charts at once.
      await chart(page, 'Requests')
        .getByRole('slider')
        .hover({ position: { x: 60, y: 20 } })
      await chart(page, 'Requests')
        .getByText(/^\d\d:\d\d {2}0 \/ min$/)
        .waitFor()
      await chart(page, 'Open streams')
        .getByText(/^\d\d:\d\d {2}0$/)
        .waitFor()
      await page.close()
    })

    it('leads from a point of a chart to its tasks, by pointer and by keyboard', async () => {
      const page = await fixture.open('/overview?agent=echo')
      const plot = chart(page, 'Requests').getByRole('slider', { name: 'Requests' })
      await plot.waitFor()
      await plot.focus()
      await page.keyboard.press('End')
      const text = (await plot.getAttribute('aria-valuetext')) ?? ''
      await page.keyboard.press('ArrowLeft')
      assert.notEqual(await plot.getAttribute('aria-valuetext'), text)
      assert.match(text, /^\d\d:\d\d {2}\d+ \/ min$/)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/tasks\?agent=echo&since=[^&]+&until=[^&]+$/)
      await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
      const { searchParams } = new URL(page.url())
      const lengthMs = Date.parse(searchParams.get('until') ?? '') - Date.parse(searchParams.get('since') ?? '')
      assert.equal(lengthMs, 60_000)
      await page.goBack()
      await chart(page, 'Errors').getByRole('slider').click()
      await page.waitForURL(/\/tasks\?agent=echo&state=TASK_STATE_FAILED&since=/)
      await page.close()
    })

    it('has its range, its agent and the table in the address, and an empty state', async () => {
      const page = await fixture.open('/overview')
      await page.getByRole('button', { name: '7 d' }).click()
      await page.waitForURL('**/overview?range=7d')
      await chart(page, 'Requests')
        .getByText(/^\d+ requests in the last 7 days/)
        .waitFor()
      await page.getByRole('button', { name: 'Show as table' }).click()
      await page.reload()
      const rows = page.getByRole('region', { name: 'Statistics of the last 7 days' }).getByRole('row')
      await rows.last().waitFor()
      assert.equal(await rows.count(), 169)
      assert.match((await rows.nth(1).getByRole('link').getAttribute('href')) ?? '', /^\/tasks\?since=/)
      await page.getByLabel('Agent', { exact: true }).selectOption('forecast')
      await page.getByRole('heading', { name: 'No requests to forecast in the last 7 days' }).waitFor()
      await page.getByRole('link', { name: 'Show the last 30 days' }).click()
      await page.waitForURL('**/overview?range=30d&agent=forecast')
      await page.close()
    })

    it('shows which agents have problems and which tasks failed, and why', async () => {
      await testHub.ask('POST', '/admin/agents', { name: 'gone', entry: { kind: 'a2a', url: 'http://127.0.0.1:9001' } })
      await testHub.ask('POST', '/admin/agents/gone/look')
      const page = await fixture.open('/overview')
      await page.getByText('No failed tasks in the last hour.').waitFor()
      await testHub.ask('POST', '/admin/agents', { name: 'talker', entry: { kind: 'module', path: './talker.ts' } })
      await testHub.send('talker', 'fail now')
      await page.getByRole('link', { name: /^1× talker .*a secret of ours/ }).waitFor()
      await numbers(page)
        .getByRole('link', { name: /^1 tasks failed in the last hour/ })
        .waitFor()
      await page.getByRole('link', { name: /^gone Down / }).click()
      await page.waitForURL('**/agents/gone')
      await page.close()
    })

    it('has no serious violation, and fits on a phone', async () => {
      for (const look of [{ theme: 'dark' }, { width: 390 }] as const) {
        for (const path of ['/overview', '/overview?table=1']) {
          const page = await fixture.open(path, look)
          await page.getByRole('heading', { name: 'Recent failures' }).waitFor()
          assert.deepEqual(await seriousViolations(page), [])
          assert.ok(await hasNoHorizontalScroll(page))
          await page.close()
        }
      }
    })
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
