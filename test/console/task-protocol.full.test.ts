/** Events as clients of each version get them: side by side, with differences marked, byte for byte. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { readClipboard, pageWidth } from './page-queries.ts'
import { openConsole } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the protocol view of a task', async (browser) => {
  const fixture = await openConsole(browser)
  const { testHub } = fixture
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const { id } = await testHub.send('talker', 'Hello')
  const { json: protocol } = await testHub.ask('GET', `/admin/tasks/${id}/wire`)
  const { json: log } = await testHub.ask('GET', `/admin/tasks/${id}/events`)
  const last = protocol.events.at(-1)
  const frameOf = (event: any, version: string, binding: string) =>
    event.frames.find((frame: any) => frame.version === version && frame.binding === binding)
  const column = (page: Page, version: string) =>
    page.getByRole('region', { name: `As clients of ${version} receive it` })
  const marked = (page: Page, version: string): Promise<string[]> =>
    column(page, version).locator('.json-line.changed').allTextContents()

  it('shows the last event that clients received, in three versions side by side, with the differences marked', async () => {
    const page = await fixture.open(`/tasks/${id}/protocol?list=off`)
    await column(page, '0.2').waitFor()
    await page.getByText(`Event ${last.seq}`, { exact: true }).waitFor()
    const [one, , three] = await Promise.all(
      ['1.0', '0.3', '0.2'].map((version) => column(page, version).boundingBox()),
    )
    assert.ok(one !== null && three !== null && three !== undefined && one !== undefined)
    assert.ok(one.y === three.y && three.x > one.x + 400)
    const newest = (await marked(page, '1.0')).join(' ')
    assert.match(newest, /statusUpdate: .*TASK_STATE_COMPLETED/)
    assert.doesNotMatch(newest, /taskId/)
    assert.match((await marked(page, '0.3')).join(' '), /kind: .*"completed".*final: /)
    await column(page, '0.3').getByText('3 differences').waitFor()
    await page.close()
  })

  it('shows the bytes sent, over JSON-RPC and over REST', async () => {
    const page = await fixture.open(`/tasks/${id}/protocol`)
    await column(page, '1.0').getByRole('button', { name: 'Copy', exact: true }).click()
    assert.equal(await readClipboard(page), frameOf(last, '1.0', 'JSONRPC').frame)
    await page.getByRole('button', { name: 'REST' }).click()
    await page.waitForURL(/binding=rest/)
    await column(page, '0.3').getByText('"TASK_STATE_COMPLETED"', { exact: true }).waitFor()
    await column(page, '0.3').getByRole('button', { name: 'Copy', exact: true }).click()
    assert.equal(await readClipboard(page), frameOf(last, '0.3', 'HTTP+JSON').frame)
    await column(page, '0.3')
      .getByText(/^As sent/)
      .click()
    assert.equal(await column(page, '0.3').locator('pre').textContent(), frameOf(last, '0.3', 'HTTP+JSON').frame)
    await page.close()
  })

  it('goes from event to event, also over internal ones', async () => {
    const page = await fixture.open(`/tasks/${id}/protocol`)
    await page.getByRole('button', { name: 'Previous event that clients receive' }).click()
    await page.waitForURL(new RegExp(`event=${protocol.events.at(-2).seq}$`))
    await column(page, '1.0').getByText('artifactUpdate', { exact: true }).waitFor()
    const inner = log.events.find(({ isVisible }: any) => !isVisible)
    await page.goto(`${testHub.url}/tasks/${id}/protocol?event=${inner.seq}`)
    await page.getByRole('heading', { name: 'Clients do not receive this event' }).waitFor()
    await page.getByRole('button', { name: 'Next event that clients receive' }).click()
    await column(page, '1.0').waitFor()
    await page.close()
  })

  it('shows one version at a time on a phone, and if one is selected', async () => {
    const page = await fixture.open(`/tasks/${id}/protocol`, { width: 390, height: 844 })
    await column(page, '1.0').waitFor()
    assert.equal(await column(page, '0.3').isVisible(), false)
    await page.getByRole('group', { name: 'Versions' }).getByRole('button', { name: '0.2' }).click()
    await column(page, '0.2').waitFor()
    assert.match(page.url(), /version=0\.2/)
    assert.equal(await column(page, '1.0').count(), 0)
    assert.match((await marked(page, '0.2')).join(' '), /"completed"/)
    assert.equal(await pageWidth(page), 390)
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
