/** Settings, sessions: who is signed in at the console, and how a session is ended. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openTokenIssuer } from '../admin/test-hub.ts'
import { hasNoHorizontalScroll, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the sessions', async (browser) => {
  const issuer = await openTokenIssuer()
  const fixture = await openConsole(browser, {
    config: { access: { jwt: [{ ...issuer.entry, scopes: { operators: ['admin'] } }] } },
  })
  const { testHub } = fixture
  const rows = (page: Page): Locator => page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')

  /** Signs in from another browser; returns the cookie. */
  async function signInByToken(): Promise<string> {
    const proof = await issuer.token({ sub: 'ann', scope: 'operators' })
    const { headers, status } = await testHub.ask('POST', '/admin/session', undefined, proof)
    assert.equal(status, 201)
    return headers.getSetCookie()[0]?.split(';')[0] ?? ''
  }

  it('are listed with user, method, start and address, the current one first', async () => {
    await signInByToken()
    const page = await fixture.open('/settings/sessions')
    assert.equal(await page.title(), 'Sessions · Settings · Parley')
    const current = rows(page).first()
    await current.getByText('current session').waitFor()
    const said = await current.innerText()
    for (const pattern of [
      /^admin$/m,
      /Signed in with admin key/,
      /since/,
      /last used/,
      /expires in 12 h/,
      /from 127\.0\.0\.1/,
    ])
      assert.match(said, pattern)
    const other = rows(page).filter({ hasText: 'ann' })
    assert.match(await other.innerText(), /Signed in with access token/)
    assert.equal(await other.getByText('current session').count(), 0)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await page.setViewportSize({ width: 390, height: 800 })
      assert.deepEqual(await seriousViolations(page), [])
      assert.equal(await hasNoHorizontalScroll(page), true)
    }
    await page.close()
  })

  it('are ended after a confirmation: the cookie is invalid then', async () => {
    const { sessions } = (await testHub.ask('GET', '/admin/sessions')).json
    for (const { id, by } of sessions) if (by === 'token') await testHub.ask('DELETE', `/admin/sessions/${id}`)
    const cookie = await signInByToken()
    const page = await fixture.open('/settings/sessions')
    const other = rows(page).filter({ hasText: 'ann' })
    await other.getByRole('button', { name: /^End session of .*ann$/ }).click()
    const question = page.getByRole('dialog', { name: /^End the session of/ })
    await question.getByText('That browser is signed out, and its streams end.').waitFor()
    await question.getByRole('button', { name: 'End session' }).click()
    await other.waitFor({ state: 'detached' })
    assert.equal((await testHub.ask('GET', '/admin/session', undefined, { cookie })).status, 401)
    await rows(page).first().getByText('current session').waitFor()
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })

  it('show the sign-in form when the current one is ended', async () => {
    const page = await fixture.open('/settings/sessions')
    await page.getByRole('button', { name: 'End session of this browser' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual((await testHub.ask('GET', '/admin/sessions')).json.sessions, [])
    await page.close()
  })
})
