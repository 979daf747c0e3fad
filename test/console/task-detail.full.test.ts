/** One task: its header, its timeline, its log, and the event that is selected in all of its views. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { readClipboard, waitForCount, pageWidth } from './page-queries.ts'
import { openConsole, seriousViolations } from './open-console.ts'
import { tickerOptions } from './ticker-agent.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('a task in the console', async (browser) => {
  const fixture = await openConsole(browser, tickerOptions)
  const { testHub } = fixture
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const ann = await testHub.key({ agents: ['*'], principal: 'ann' })
  const asked = await testHub.send('talker', 'ask about a city', ann)
  const { contextId } = asked
  await testHub.send('talker', 'Rome', ann, { taskId: asked.id, contextId })
  const model = await testHub.send('gpt', 'Tell me', ann)
  const events = (page: Page) => page.getByRole('list', { name: 'Events' }).getByRole('button', { name: /^\d+ / })
  const slider = (page: Page) => page.getByRole('slider', { name: 'Events of the task' })
  const hasEvent = (page: Page, seq: number) => page.waitForURL(new RegExp(`[?&]event=${seq}(&|$)`))

  it('shows state, caller and agent, with links and copy buttons', async () => {
    const page = await fixture.open(`/tasks/${asked.id}`)
    await page.getByRole('heading', { name: 'ask about a city', level: 2 }).waitFor()
    assert.equal(await page.title(), 'ask about a city · Tasks · Parley')
    const facts = page.locator('.task-facts')
    assert.equal(await facts.getByRole('link', { name: 'talker' }).getAttribute('href'), '/agents/talker')
    await facts.getByRole('button', { name: 'Copy task id' }).click()
    assert.equal(await readClipboard(page), asked.id)
    await facts.getByRole('button', { name: 'Copy context id' }).click()
    assert.equal(await readClipboard(page), contextId)
    await page.getByRole('button', { name: 'More actions' }).click()
    const playground = await page.getByRole('link', { name: 'Open in playground' }).getAttribute('href')
    assert.equal(playground, `/playground/talker?context=${contextId}&task=${asked.id}`)
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    assert.ok((await readClipboard(page)).endsWith(`/admin/tasks/${asked.id}'`))
    await page.keyboard.press('Escape')
    await facts.locator(`a[href="/tasks?context=${contextId}"]`).click()
    await page.waitForURL(/\/tasks\?context=/)
    await waitForCount(page.locator('.task-row'), 1)
    await page.close()
  })

  it('has its log: number, time, type, summary and size, and the whole record when expanded', async () => {
    const page = await fixture.open(`/tasks/${asked.id}/events`)
    await events(page).first().waitFor()
    const { json } = await testHub.ask('GET', `/admin/tasks/${asked.id}/events`)
    assert.equal(await events(page).count(), json.head)
    assert.match((await events(page).first().textContent()) ?? '', /^1\+\d+ msmessageuser: ask about a city\d+ B$/)
    await events(page).filter({ hasText: 'Which city?' }).click()
    const [question] = json.events.filter(({ body }: any) => body.status?.state === 'TASK_STATE_INPUT_REQUIRED')
    await hasEvent(page, question.seq)
    await page.locator('.event-body').getByText('"Which city?"').waitFor()
    await events(page).filter({ hasText: 'Which city?' }).click()
    await page.locator('.event-body').waitFor({ state: 'detached' })
    await page.close()
  })

  it('filters the log by type, text and client events, in the address', async () => {
    const page = await fixture.open(`/tasks/${asked.id}/events`)
    await events(page).first().waitFor()
    await page.getByLabel('Visible to clients only').check()
    await waitForCount(page.locator('.event-type.inner'), 0)
    await page.getByRole('button', { name: 'Type' }).click()
    await page.locator('.menu-panel').getByLabel('status').check()
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox', { name: 'Find in events' }).fill('INPUT_required')
    await waitForCount(page.locator('.event'), 1)
    await page.reload()
    await events(page).first().waitFor()
    assert.equal(await events(page).count(), 1)
    await page.getByText(/^1 of \d+ events$/).waitFor()
    await events(page).first().click()
    await page.locator('.event-body .found').first().waitFor()
    await page.getByRole('searchbox', { name: 'Find in events' }).fill('nowhere')
    await page.getByRole('button', { name: 'Show all events' }).click()
    await events(page).nth(6).waitFor()
    await page.close()
  })

  it('has one event selected in all four views, also after a reload', async () => {
    const { json } = await testHub.ask('GET', `/admin/tasks/${model.id}/events`)
    const chunk = json.events.findLast(({ type }: any) => type === 'artifact')
    const page = await fixture.open(`/tasks/${model.id}/events?event=${chunk.seq}`)
    await page.locator('.event.open').waitFor()
    const open = (name: string) =>
      page.getByRole('navigation', { name: 'Views of the task' }).getByRole('link', { name })
    await open('Protocol').click()
    await page.getByText(`Event ${chunk.seq}`, { exact: true }).waitFor()
    await open('Trace').click()
    await page.locator('.task-trace [aria-selected="true"], .task-trace [aria-current]').first().waitFor()
    await open('Conversation').click()
    await page.getByText(`as of event ${chunk.seq} of ${json.head}`).waitFor()
    assert.equal(await slider(page).getAttribute('aria-valuenow'), String(chunk.seq))
    await page.reload()
    await page.getByText(`as of event ${chunk.seq} of ${json.head}`).waitFor()
    await page.close()
  })

  it('has a timeline that is moved by keyboard and by pointer', async () => {
    const page = await fixture.open(`/tasks/${asked.id}`)
    const { json } = await testHub.ask('GET', `/admin/tasks/${asked.id}/events`)
    await slider(page).focus()
    await page.keyboard.press('Home')
    await hasEvent(page, 1)
    await page.keyboard.press('ArrowRight')
    await hasEvent(page, 2)
    assert.match((await slider(page).getAttribute('aria-valuetext')) ?? '', /^2 of \d+ · /)
    await page.keyboard.press('End')
    await hasEvent(page, json.head)
    await page.keyboard.press(',')
    await hasEvent(page, json.head - 1)
    await page.keyboard.press('Escape')
    await page.waitForURL((url) => !url.searchParams.has('event'))
    const box = await slider(page).boundingBox()
    if (box === null) throw new Error('no line of time')
    await page.mouse.click(box.x + 1, box.y + 5)
    await page.waitForURL(/event=\d/)
    assert.ok(await page.locator('.timeline-state title').first().textContent())
    await page.close()
  })

  it('grows with the task, follows the end, and counts new events while the user reads further up', async () => {
    const page = await fixture.open('/tasks')
    const started = await testHub.call('ticker', 'SendMessage', {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'tick 1000 20' }] },
      configuration: { returnImmediately: true },
    })
    const { id } = started.json.result.task
    await page.goto(`${testHub.url}/tasks/${id}/events?chunks=all`)
    await events(page).filter({ hasText: 'line 40' }).first().waitFor()
    const list = page.locator('.events-tab .virtual')
    assert.ok(await list.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 60))
    await list.evaluate((one) => (one.scrollTop = 0))
    const pill = page.getByRole('button', { name: /^\d+ new$/ })
    await pill.waitFor()
    await events(page).filter({ hasText: 'tick 1000 20' }).waitFor()
    await pill.click()
    await pill.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Cancel' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this task?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.locator('.task-head > .state', { hasText: 'canceled' }).waitFor()
    await waitForCount(page.getByRole('button', { name: 'Cancel', exact: true }), 0)
    await page.close()
  })

  it('streams the answer', async () => {
    const page = await fixture.open('/tasks')
    const started = await testHub.call('ticker', 'SendMessage', {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'tick 24 300' }] },
      configuration: { returnImmediately: true },
    })
    const { id } = started.json.result.task
    await page.goto(`${testHub.url}/tasks/${id}`)
    const talk = page.locator('.task-scroll')
    await talk.getByText('line 3').waitFor()
    assert.ok(!(await talk.textContent())?.includes('line 24'))
    await talk.getByText('line 24').waitFor()
    await page.locator('.task-head').getByText('completed').waitFor()
    await page.close()
  })

  it('links to its webhooks', async () => {
    const configured = await testHub.call(
      'talker',
      'CreateTaskPushNotificationConfig',
      {
        taskId: asked.id,
        id: 'hook',
        url: 'https://hooks.example.com/a?token=s',
      },
      ann,
    )
    if (configured.json.error !== undefined) assert.fail(JSON.stringify(configured.json))
    const page = await fixture.open(`/tasks/${asked.id}`)
    const link = page.locator('.task-facts').getByRole('link', { name: /hooks\.example\.com/ })
    assert.equal(await link.getAttribute('href'), `/webhooks/${asked.id}/hook`)
    await page.close()
  })

  it('is exported with its events', async () => {
    const page = await fixture.open(`/tasks/${asked.id}`)
    await page.locator('.task-head').getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'As JSON, with events' }).click(),
    ])
    assert.equal(file.suggestedFilename(), `task-${asked.id}.json`)
    const whole = JSON.parse(await readFile(await file.path(), 'utf8'))
    assert.deepEqual([whole.id, whole.events.length, whole.task.id], [asked.id, whole.head, asked.id])
    await page.close()
  })

  it('has a full-width mode without the list, and is found from anywhere by Ctrl-K', async () => {
    const page = await fixture.open(`/tasks/${asked.id}?list=off`)
    await page.locator('.task-detail').waitFor()
    assert.equal(await page.locator('.task-row').count(), 0)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('button', { name: 'Show list' }).click()
    await page.locator('.task-row').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('copy this task')
    await page.keyboard.press('Enter')
    await waitFor(async () => ((await readClipboard(page)).includes(asked.id) ? true : undefined), 'it is copied')
    await page.close()
  })

  it('shows a not-found message for an unknown task', async () => {
    const page = await fixture.context.newPage()
    await page.goto(`${testHub.url}/tasks/not-there`)
    await page.getByRole('heading', { name: 'Task not found' }).waitFor()
    await page.close()
  })

  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    it(`has nothing that axe finds serious, ${theme} and ${width} wide, in every view`, async () => {
      for (const view of ['', '/events?event=2', '/protocol', '/trace']) {
        const page = await fixture.open(`/tasks/${model.id}${view}`, { theme, width })
        await page.locator('.task-detail').waitFor()
        await page.locator('.task-scroll, .event-body, .payload, .task-trace').first().waitFor()
        assert.deepEqual(await seriousViolations(page), [], view)
        assert.equal(await pageWidth(page), width, view)
        await page.close()
      }
    })
  }

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
