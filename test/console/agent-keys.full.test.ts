/** Keys in the console: created, shown once, restricted, used, replaced, revoked. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { readClipboard } from './page-queries.ts'
import { openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the keys of an agent', async (browser) => {
  const fixture = await openConsole(browser, { config: { access: { anonymous: [] } } })
  const { testHub } = fixture
  await fixture.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const form = (page: Page) => page.getByRole('form', { name: 'New key' })
  const shown = (page: Page) => page.getByRole('region', { name: /^Key “/ })
  const row = (page: Page, name: RegExp) =>
    page.getByRole('list', { name: 'Keys' }).getByRole('listitem').filter({ hasText: name })
  const say = { messageId: 'k', role: 'ROLE_USER', parts: [{ text: 'hello' }] }

  async function make(page: Page, name: string): Promise<void> {
    await form(page).getByLabel('Name', { exact: true }).fill(name)
    await form(page).getByRole('button', { name: 'Create key' }).click()
    await shown(page).waitFor()
  }

  it('are created in a form, shown once, copied, and give access to one agent', async () => {
    const page = await fixture.open('/agents/artist/keys')
    await page.getByText('No keys yet').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    assert.match(page.url(), /make=key/)
    await make(page, 'build server')
    await shown(page).getByText('This key is shown only once.').waitFor()
    await shown(page).getByRole('button', { name: 'Copy key' }).click()
    await shown(page).getByRole('button', { name: 'Copied' }).waitFor()
    const key = await readClipboard(page)
    assert.match(key, /^pk_/)
    assert.deepEqual(await seriousViolations(page), [])
    await row(page, /build server/)
      .getByText('Never used')
      .waitFor()
    await row(page, /build server/)
      .getByText('Expires in 90 d')
      .waitFor()

    const proof = { authorization: `Bearer ${key}` }
    assert.equal((await testHub.call('artist', 'SendMessage', { message: say }, proof)).status, 200)
    await row(page, /build server/)
      .getByText(/^Used/)
      .waitFor()
    assert.notEqual((await testHub.call('talker', 'SendMessage', { message: say }, proof)).status, 200)

    await shown(page).getByRole('button', { name: 'Done' }).click()
    await shown(page).waitFor({ state: 'detached' })
    await page.reload()
    await row(page, /build server/).waitFor()
    assert.doesNotMatch(await page.content(), new RegExp(key))
    await page.close()
  })

  it('are not lost unseen: leaving without the key asks for confirmation', async () => {
    const page = await fixture.open('/agents/talker')
    await page.getByRole('navigation', { name: 'Views of talker' }).getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await make(page, 'forgotten')
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Tasks/ })
      .click()
    const question = page.getByRole('dialog', { name: 'Leave without the key?' })
    await question.getByText('shown only once').waitFor()
    await question.getByRole('button', { name: 'Not now' }).click()
    await shown(page).waitFor()
    assert.match(page.url(), /\/agents\/talker\/keys/)
    await page.evaluate('history.back()')
    await question.getByRole('button', { name: 'Not now' }).click()
    await shown(page).waitFor()
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Tasks/ })
      .click()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL('**/tasks')
    await page.close()
  })

  it('are restricted to skills, operations, a rate, tasks per day and an expiry date', async () => {
    const page = await fixture.open('/agents/talker/keys?make=key')
    await testHub.ask('PUT', '/admin/agents/talker', {
      entry: {
        kind: 'module',
        path: './talker.ts',
        default: true,
        skills: [
          { id: 'say', name: 'Say', description: 'Says it', tags: [] },
          { id: 'sing', name: 'Sing', description: 'Sings it', tags: [] },
        ],
      },
    })
    await form(page).getByRole('group', { name: 'Skills' }).getByLabel('Sing').check()
    await form(page).getByLabel('Cancel tasks').uncheck()
    await form(page).getByLabel('Set webhooks').uncheck()
    await form(page).getByLabel('Expires', { exact: true }).selectOption('date')
    await form(page).getByLabel('Expiry date').fill('2099-12-31')
    await form(page).getByLabel('Rate limit').fill('10/s')
    await form(page).getByLabel('Tasks per day').fill('50')
    await form(page).getByText('More options', { exact: true }).click()
    await form(page).getByLabel('Principal').fill('team-a')
    await make(page, 'narrow')
    const { json } = await testHub.ask('GET', '/admin/keys?limit=100')
    const key = json.keys.find(({ name }: any) => name === 'narrow')
    assert.deepEqual(key.scopes, ['skill:talker/sing', 'operation:send', 'operation:read'])
    assert.deepEqual([key.rate, key.tasksPerDay, key.principal], ['10/s', 50, 'team-a'])
    assert.match(key.expiresAt, /^(2099-12-31|2100-01-01)/)
    for (const word of ['talker/sing', 'only send, read', '10/s', '50 tasks per day', 'As team-a']) {
      await row(page, /narrow/)
        .getByText(word)
        .waitFor()
    }
    await shown(page).getByRole('button', { name: 'Done' }).click()
    await page.close()
  })

  it('show errors at their field', async () => {
    const page = await fixture.open('/agents/gpt/keys?make=key')
    await form(page).getByRole('button', { name: 'Create key' }).click()
    await form(page).getByText('Enter a name').waitFor()
    await form(page).getByLabel('Name', { exact: true }).fill('wrong')
    await form(page).getByLabel('Rate limit').fill('often')
    await form(page).getByLabel('Tasks per day').fill('0')
    await form(page).getByRole('button', { name: 'Create key' }).click()
    await form(page).getByRole('alert').first().waitFor()
    assert.equal(await form(page).getByLabel('Rate limit').getAttribute('aria-invalid'), 'true')
    assert.equal(await form(page).getByLabel('Tasks per day').getAttribute('aria-invalid'), 'true')
    await form(page).getByRole('button', { name: 'Cancel' }).click()
    await form(page).waitFor({ state: 'detached' })
    await page.close()
  })

  it('are revoked after a confirmation, and are invalid from then on', async () => {
    const { json: made } = await testHub.ask('POST', '/admin/keys', { name: 'leaked', agents: ['shout'] })
    const page = await fixture.open('/agents/shout/keys')
    await page.getByRole('button', { name: 'Revoke leaked' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke the key “leaked”?' })
    await question.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No matching keys.').waitFor()
    await page.getByRole('group', { name: 'Which keys' }).getByRole('button', { name: 'All' }).click()
    await row(page, /leaked/)
      .getByText(/⊘\s*Revoked/)
      .waitFor()
    const proof = { authorization: `Bearer ${made.key}` }
    assert.equal((await testHub.call('shout', 'SendMessage', { message: say }, proof)).status, 401)
    await page.close()
  })

  it('are replaced by new ones with the same permissions', async () => {
    const { json: old } = await testHub.ask('POST', '/admin/keys', { name: 'worn', agents: ['clock'], rate: '5/s' })
    const page = await fixture.open('/agents/clock/keys')
    await page.getByRole('button', { name: 'Replace worn' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
    await shown(page).getByRole('button', { name: 'Copy key' }).click()
    await row(page, /worn/).nth(1).waitFor()
    const { json } = await testHub.ask('GET', '/admin/keys?limit=100')
    const both = json.keys.filter(({ name }: any) => name === 'worn')
    assert.deepEqual(
      both.map(({ rate }: any) => rate),
      ['5/s', '5/s'],
    )
    assert.equal(new Set(both.map(({ principal }: any) => principal)).size, 1)
    assert.notEqual(await readClipboard(page), old.key)
    await page.close()
  })

  it('are found by text, and by an address that names one', async () => {
    await testHub.ask('POST', '/admin/keys', { name: 'alpha', agents: ['concierge'] })
    const { json: beta } = await testHub.ask('POST', '/admin/keys', { name: 'beta', agents: ['concierge'] })
    const page = await fixture.open(`/agents/concierge/keys?key=${beta.id}`)
    await row(page, /beta/).and(page.locator('[aria-current]')).waitFor()
    await page.getByLabel('Filter keys').fill('alp')
    await row(page, /beta/).waitFor({ state: 'detached' })
    assert.match(page.url(), /find=alp/)
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(
      fixture.pageErrors.filter((said) => !/status of 400/.test(said)),
      [],
    )
  })
})
