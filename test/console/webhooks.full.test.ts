/** Webhooks: state, attempts and redelivery, with a receiver that fails and recovers. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { openWebhookReceiver } from './webhook-receiver.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the webhooks page', async (browser) => {
  const receiver = await openWebhookReceiver()
  const fixture = await openConsole(browser, {
    config: { push: { allow: ['127.0.0.1'], schedule: ['200ms', '1h'] } },
  })
  const { testHub } = fixture

  const rows = (page: Page) => page.getByRole('list', { name: 'Webhooks' }).getByRole('link')
  const row = (page: Page, text: string) => rows(page).filter({ hasText: text })
  /** A message whose task notifies this path. */
  const hook = async (text: string, path: string, { agent = 'talker', id = 'hook' } = {}): Promise<string> => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
    const taskPushNotificationConfig = { id, url: receiver.url + path }
    const { json } = await testHub.call(agent, 'SendMessage', {
      message,
      configuration: { taskPushNotificationConfig },
    })
    return json.result.task.id
  }
  const reaches = (taskId: string, state: string, id = 'hook') =>
    waitFor(async () => {
      const { json } = await testHub.ask('GET', `/admin/push/${taskId}/${encodeURIComponent(id)}`)
      const isThere = state === 'retrying' ? json.state === 'active' && json.attempt === 2 : json.state === state
      return isThere ? json : undefined
    }, `${taskId} is ${state}`)

  it('explains how to set one if there are none', async () => {
    const page = await fixture.open('/webhooks')
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    assert.match(await page.locator('.empty pre').innerText(), /^curl .*\/a2a\/talker .*taskPushNotificationConfig/s)
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByRole('button', { name: 'Undeliverable' }).click()
    await page.getByRole('heading', { name: 'No undeliverable webhooks' }).waitFor()
    await page.close()
  })

  it('lists them as they are set, with state, last response and next attempt', async () => {
    const page = await fixture.open('/webhooks')
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    receiver.answer('/busy', 503)
    receiver.answer('/wrong', 404)
    const done = await hook('a first report', '/good')
    const busy = await hook('ask while it is busy', '/busy')
    const wrong = await hook('to a wrong path', '/wrong?token=secret')
    await reaches(done, 'done')
    await reaches(busy, 'retrying')
    await reaches(wrong, 'dead')
    await row(page, 'a first report').filter({ hasText: 'Delivered' }).filter({ hasText: 'HTTP 200' }).waitFor()
    await row(page, 'it is busy').filter({ hasText: 'Retrying' }).filter({ hasText: 'HTTP 503' }).waitFor()
    await row(page, 'it is busy')
      .filter({ hasText: /in (\d+ min|1 h)/ })
      .filter({ hasText: '2 failed attempts' })
      .waitFor()
    await row(page, 'to a wrong path').filter({ hasText: 'Undeliverable' }).filter({ hasText: 'HTTP 404' }).waitFor()
    assert.equal(await page.getByText('secret').count(), 0)
    // The newest first.
    assert.match(await rows(page).first().innerText(), /to a wrong path/)
    await page.close()
  })

  it('finds them by state, agent and text, all kept in the address', async () => {
    await hook('of another agent', '/good', { agent: 'clock' })
    const page = await fixture.open('/webhooks')
    await row(page, 'of another agent').waitFor()
    await page.getByRole('button', { name: 'Undeliverable' }).click()
    await row(page, 'of another agent').waitFor({ state: 'detached' })
    await page.getByText('1 webhook stopped after failed deliveries').waitFor()
    assert.equal(await rows(page).count(), 1)
    await page.reload()
    await row(page, 'to a wrong path').waitFor()
    assert.match(page.url(), /\/webhooks\?state=dead$/)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('clock')
    await row(page, 'to a wrong path').waitFor({ state: 'detached' })
    assert.equal(await rows(page).count(), 1)
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('')
    await row(page, 'to a wrong path').waitFor()
    await page.locator('body').click({ position: { x: 5, y: 700 } })
    await page.keyboard.press('/')
    await page.keyboard.type('HTTP 503')
    await row(page, 'to a wrong path').waitFor({ state: 'detached' })
    assert.equal(await rows(page).count(), 1)
    await page.getByRole('searchbox').fill('nothing of this kind')
    await page.getByRole('heading', { name: 'No matching webhooks' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await row(page, 'of another agent').waitFor()
    await page.close()
  })

  it('is navigated by keyboard: into a webhook, to the next, and back', async () => {
    const page = await fixture.open('/webhooks?agent=talker')
    await row(page, 'to a wrong path').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: '127.0.0.1', level: 2 }).waitFor()
    const first = page.url()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.href !== first)
    await page.keyboard.press('Escape')
    await page.waitForURL('**/webhooks?agent=talker')
    await page.close()
  })

  it('shows a dead letter with its cause and each attempt; redelivers it once the receiver works', async () => {
    receiver.answer('/mended', 404, 'No hook <b>here</b>')
    const id = await hook('a letter that came back', '/mended')
    await reaches(id, 'dead')
    const page = await fixture.open('/webhooks?state=dead')
    await row(page, 'a letter that came back').click()
    await page.waitForURL(`**/webhooks/${id}/hook?state=dead`)
    const failure = page.getByRole('group').filter({ hasText: 'Delivery failed after 1 attempt' })
    await failure.getByText('HTTP 404: No hook <b>here</b>').waitFor()
    await failure.getByText(/does not accept POST requests.*Events are queued; redeliver to resume\./).waitFor()
    await page
      .locator('dd')
      .getByText(/^Delivered 0 of \d+$/)
      .waitFor()
    const tries = page.getByRole('table').getByRole('row')
    assert.match(await tries.nth(1).innerText(), /HTTP 404[\s\S]*No hook <b>here<\/b>/)
    assert.equal(await tries.count(), 2)
    receiver.answer('/mended', 200)
    await page.getByRole('button', { name: 'Redeliver', exact: true }).click()
    await page.locator('.webhook-detail .state').filter({ hasText: 'Delivered' }).waitFor()
    await tries.filter({ hasText: 'HTTP 200' }).first().waitFor()
    // It is no longer a dead letter.
    await row(page, 'a letter that came back').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'a letter that came back' }).click()
    await page.waitForURL(`**/tasks/${id}`)
    await page.close()
  })

  it('sends everything again, after a confirmation', async () => {
    const id = await hook('tell me again', '/again')
    await reaches(id, 'done')
    const redeliveries = () => receiver.deliveries.filter(({ path }) => path === '/again')
    const first = redeliveries().map(({ eventId }) => eventId)
    const page = await fixture.open(`/webhooks/${id}/hook`)
    await page.getByRole('button', { name: 'Redeliver all events' }).click()
    const dialog = page.getByRole('dialog', { name: 'Redeliver all events?' })
    await dialog.getByRole('button', { name: 'Not now' }).click()
    assert.equal(redeliveries().length, first.length)
    await page.getByRole('button', { name: 'Redeliver all events' }).click()
    await dialog.getByRole('button', { name: 'Redeliver all events' }).click()
    await waitFor(async () => (redeliveries().length === 2 * first.length ? true : undefined), 'it is delivered again')
    assert.deepEqual(
      redeliveries()
        .slice(first.length)
        .map(({ eventId }) => eventId),
      first,
    )
    await waitFor(async () => {
      const shown = await page.getByRole('table').getByRole('row').count()
      return shown === 1 + 2 * first.length ? true : undefined
    }, 'all tries are shown')
    // From an attempt to its event.
    const link = page.getByRole('table').getByRole('link').first()
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`^/tasks/${id}/events\\?event=\\d+$`))
    await page.close()
  })

  it('shows one that waits for a retry, and retries it by key', async () => {
    receiver.answer('/later', 503)
    const id = await hook('ask me later', '/later')
    await reaches(id, 'retrying')
    const page = await fixture.open(`/webhooks/${id}/hook`)
    await page.getByText('The last attempt failed').waitFor()
    await page
      .locator('.webhook-detail')
      .getByText(/^in (\d+ min|1 h)/)
      .waitFor()
    receiver.answer('/later', 200)
    await page.keyboard.press('r')
    await page.locator('.webhook-detail .state').filter({ hasText: 'Waiting for events' }).waitFor()
    await page.locator('.webhook-detail').getByText('All events so far', { exact: true }).waitFor()
    await page.close()
  })

  it('redelivers all dead letters at once', async () => {
    await reaches(await hook('to the same receiver', '/wrong'), 'dead')
    receiver.answer('/wrong', 200)
    const page = await fixture.open('/webhooks?state=dead')
    await row(page, 'to a wrong path').waitFor()
    await page.getByRole('button', { name: 'Redeliver all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver all' }).click()
    await page.getByRole('heading', { name: 'No undeliverable webhooks' }).waitFor()
    await page.close()
  })

  it('is accessible: no serious violation in both themes, and nothing is cut off on a phone', async () => {
    receiver.answer('/gone', 400)
    const id = await hook('to be looked at, with a long title that has to be cut somewhere', '/gone', { id: 'a/b' })
    await reaches(id, 'dead', 'a/b')
    for (const look of [{}, { theme: 'dark' }, { width: 390, height: 844 }] as const) {
      for (const path of ['/webhooks', '/webhooks?state=dead', `/webhooks/${id}/a%2Fb`]) {
        const page = await fixture.open(path, look)
        await (path.includes(id) ? page.getByRole('table') : rows(page).first()).waitFor()
        assert.deepEqual(await seriousViolations(page), [], `${path} ${JSON.stringify(look)}`)
        assert.ok(await hasNoHorizontalScroll(page), 'it is cut off')
        await page.close()
      }
    }
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })

  it('shows a not-found message with a link to its task', async () => {
    const page = await fixture.open('/webhooks/no-task/none')
    await page.getByRole('heading', { name: 'Webhook not found' }).waitFor()
    await page.close()
  })
})

describeInBrowser('a hub without webhooks', async (browser) => {
  const fixture = await openConsole(browser, { config: { push: false } })

  it('explains how to enable them', async () => {
    const page = await fixture.open('/webhooks')
    await page.getByRole('heading', { name: 'Webhooks are turned off' }).waitFor()
    await page.getByRole('link', { name: 'Open configuration' }).click()
    await page.waitForURL('**/settings/config')
    await page.close()
  })
})
