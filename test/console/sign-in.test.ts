/** Signing in with a key or at an issuer: the errors, and the page that the user returns to. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { it } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { freePort } from '../free-port.ts'
import { clientSecret, openOidcProvider } from '../admin/oidc-provider.ts'
import { adminKey } from '../admin/test-hub.ts'
import { isFocused } from './page-queries.ts'
import { defaultLook, maxWaitMs, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('sign-in', async (browser) => {
  const provider = await openOidcProvider()
  const port = await freePort()
  const config = {
    listen: { port, grpcPort: false },
    admin: { key: adminKey, oidc: { issuer: provider.issuer, clientId: 'console', clientSecret } },
    access: {
      anonymous: '*',
      jwt: [{ issuer: provider.issuer, audience: 'console', scopes: { operators: ['admin'] } }],
    },
  }
  const fixture = await openConsole(browser, { config })
  const { testHub } = fixture

  const key = (page: Page) => page.getByLabel('Admin key')
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
  async function openSignedOut(path: string, origin = testHub.url): Promise<{ page: Page; context: BrowserContext }> {
    const context = await browser.newContext(defaultLook)
    context.setDefaultTimeout(maxWaitMs)
    const page = await context.newPage()
    await page.goto(origin + path)
    await heading(page, 'Sign in to Parley').waitFor()
    return { page, context }
  }
  async function enter(page: Page, held = adminKey): Promise<void> {
    await key(page).fill(held)
    await page.keyboard.press('Enter')
  }

  it('opens with the admin key, at the page that was requested', async () => {
    const { page, context } = await openSignedOut('/tasks?agent=talker')
    assert.equal(await page.title(), 'Sign in · Parley')
    assert.equal(await isFocused(key(page)), true)
    await page.getByText(/continues to \/tasks/).waitFor()
    await page.getByRole('button', { name: 'Show key' }).click()
    assert.equal(await key(page).getAttribute('type'), 'text')
    await enter(page)
    await heading(page, 'Tasks').waitFor()
    assert.match(page.url(), /\/tasks\?agent=talker$/)
    // The key is not readable by a page.
    const kept = await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])')
    assert.doesNotMatch(String(kept), /the admin key/)
    await context.close()
  })

  it('opens by a one-time link, and names the file of the key, the setting or the way to another', async () => {
    const { page, context } = await openSignedOut('/')
    await page.getByText('The key is the value of admin.key or PARLEY_ADMIN_KEY.').waitFor()
    await page.getByText('parley open', { exact: true }).waitFor()
    const { path } = (await testHub.ask('POST', '/admin/session/code')).json
    await page.goto(testHub.url + path)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    assert.ok(!page.url().includes('code'), page.url())
    await context.close()

    const again = await openSignedOut(path)
    await again.page.getByRole('alert').getByText('The link was used, or its minute has passed.').waitFor()
    // Not while the button changes from disabled to enabled.
    await again.page.getByRole('button', { name: 'Sign in', exact: true, disabled: false }).waitFor()
    await again.page.waitForLoadState('load')
    assert.deepEqual(await seriousViolations(again.page), [])
    const places = { keyFile: '/home/ann/.parley/parley.admin-key', key: true }
    for (const [keyFrom, words] of [
      ['file', 'The key is in /home/ann/.parley/parley.admin-key.'],
      ['elsewhere', 'There is no key in /home/ann/.parley/parley.admin-key. If you lost it, stop the hub'],
    ]) {
      await again.page.route('**/admin/sign-in', (route) => route.fulfill({ json: { ...places, keyFrom } }))
      await again.page.reload()
      await again.page.getByText(words as string).waitFor()
    }
    await again.context.close()
  })

  it('reports a wrong key, and how long to wait after too many', async () => {
    const { page, context } = await openSignedOut('/')
    await enter(page, 'a wrong one')
    await page.getByRole('alert').getByText('This is not the admin key.').waitFor()
    assert.equal(await key(page).getAttribute('aria-invalid'), 'true')
    await enter(page, 'schlüssel')
    await page.getByRole('alert').getByText('This is not the admin key.').waitFor()
    // The limiter refills one guess every three seconds: they are used up right before the page makes its own.
    await page.route('**/admin/session', async (route) => {
      for (let status = 0; status !== 429;) {
        const guess = await testHub.ask('GET', '/admin/agents', undefined, { authorization: 'Bearer a wrong one' })
        status = guess.status
      }
      await route.continue()
    })
    await enter(page, 'a wrong one')
    await page.getByText(/^Too many wrong keys\. Try again in (a second|\d+ seconds)\.$/).waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    // A caller with the right key does not wait for guesses.
    await enter(page)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await context.close()
  })

  it('leads to the issuer and back to the requested page, from another site', async () => {
    provider.person = { sub: 'olga', groups: ['operators'] }
    // The issuer is at 127.0.0.1; by this name the hub is another site, as in production.
    const { page, context } = await openSignedOut('/tasks?agent=talker', testHub.url.replace('127.0.0.1', 'localhost'))
    await page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` }).click()
    await heading(page, 'Tasks').waitFor()
    assert.match(page.url(), /^http:\/\/localhost:\d+\/tasks\?agent=talker$/)
    await page.goto(`${new URL(page.url()).origin}/settings/about`)
    await page.getByText(`${provider.issuer}|olga`).waitFor()
    // With cookie and CSRF token, changes are allowed.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'Sign in to Parley').waitFor()
    await context.close()
  })

  it('shows once why the issuer or the configuration refused the user, and keeps the return path', async () => {
    provider.person = { sub: 'eve', groups: ['guests'] }
    const { page, context } = await openSignedOut('/tasks?agent=talker')
    await page.getByRole('link', { name: /^Sign in with/ }).click()
    await page.getByRole('alert').getByText('You are signed in, but you are not an admin of this hub').waitFor()
    assert.match(page.url(), /\/tasks\?agent=talker$/)
    // With an issuer, the button of the key is no longer the primary one.
    await page.getByRole('link', { name: /^Sign in with/ }).waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.reload()
    await heading(page, 'Sign in to Parley').waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
    provider.person = undefined
    await page.getByRole('link', { name: /^Sign in with/ }).click()
    await page.getByRole('alert').getByText('The identity provider refused the sign-in').waitFor()
    await enter(page)
    await heading(page, 'Tasks').waitFor()
    assert.match(page.url(), /\/tasks\?agent=talker$/)
    await context.close()
  })

  it('is judged by its colours at rest, also if a button changes while axe runs and the reader wants motion', async () => {
    const context = await browser.newContext({ ...defaultLook, reducedMotion: 'no-preference' })
    context.setDefaultTimeout(maxWaitMs)
    const page = await context.newPage()
    await page.goto(testHub.url)
    await page.getByRole('link', { name: /^Sign in with/ }).waitFor()
    // As a late answer of the hub does, after axe was loaded and before it reads the first colour.
    await page.evaluate(`{
      const button = document.querySelector('button[type=submit]')
      button.className = 'primary'
      for (const transition of document.getAnimations()) transition.finish()
      Object.defineProperty(globalThis, 'axe', { configurable: true, set(axe) {
        Object.defineProperty(globalThis, 'axe', { value: axe })
        button.className = ''
      } })
    }`)
    assert.deepEqual(await seriousViolations(page), [])
    assert.equal(await page.locator('button.primary').count(), 0)
    await context.close()
  })

  it('shows an error of the address as plain text', async () => {
    const { page, context } = await openSignedOut(`/?signInError=${encodeURIComponent('<img src=x onerror=alert(1)>')}`)
    await page.getByRole('alert').getByText('<img src=x onerror=alert(1)>').waitFor()
    assert.equal(new URL(page.url()).search, '')
    await context.close()
  })

  it('appears in every tab after signing out, and closes in every tab after signing in', async () => {
    const { page, context } = await openSignedOut('/tasks')
    await enter(page)
    await heading(page, 'Tasks').waitFor()
    const other = await context.newPage()
    await other.goto(`${testHub.url}/settings/about`)
    await heading(other, 'Settings').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'Sign in to Parley').waitFor()
    await heading(other, 'Sign in to Parley').waitFor()
    assert.equal(await page.getByText('Your session has ended').count(), 0)
    await enter(other)
    await heading(other, 'Settings').waitFor()
    await heading(page, 'Tasks').waitFor()
    await context.close()
  })

  it('appears at the next request when the session was ended elsewhere, and returns to the same page', async () => {
    const { page, context } = await openSignedOut('/settings/audit?event=call')
    await enter(page)
    await heading(page, 'Settings').waitFor()
    const session = (await (await context.request.get(`${testHub.url}/admin/session`)).json()) as { csrf: string }
    const ended = await context.request.delete(`${testHub.url}/admin/session`, {
      headers: { 'x-csrf-token': session.csrf },
    })
    assert.equal(ended.status(), 200)
    // Unless the page has sent a request on its own in the meantime.
    const refresh = page.getByRole('button', { name: 'Refresh' })
    await Promise.race([refresh.click().catch(() => {}), heading(page, 'Sign in to Parley').waitFor()])
    await heading(page, 'Sign in to Parley').waitFor()
    await page.getByRole('alert').getByText('Your session has ended').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await enter(page)
    await heading(page, 'Settings').waitFor()
    assert.match(page.url(), /\/settings\/audit\?event=call$/)
    await page.getByText(/ Live$/).waitFor()
    await context.close()
  })

  it('appears when the admin key was changed, and accepts the new one', async () => {
    const { page, context } = await openSignedOut('/settings/config')
    await enter(page)
    const field = page.getByLabel('Configuration', { exact: true })
    await field.waitFor()
    await field.fill(`${await field.inputValue()}# typed before\n`)
    const before = readFileSync(testHub.file, 'utf8')
    writeFileSync(testHub.file, before.replace(adminKey, 'another key of this hub'))
    await testHub.restart()
    await heading(page, 'Sign in to Parley').waitFor()
    await enter(page)
    await page.getByText('This is not the admin key.').waitFor()
    await enter(page, 'another key of this hub')
    // The draft is kept.
    await field.waitFor()
    assert.match(await field.inputValue(), /# typed before\n$/)
    await page.getByText(/ Live$/).waitFor()
    writeFileSync(testHub.file, before)
    await context.close()
    await testHub.restart()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`is accessible, ${theme} and narrow [full]`, async () => {
      for (const width of [1280, 390]) {
        const context = await browser.newContext({
          ...defaultLook,
          colorScheme: theme,
          viewport: { width, height: 844 },
        })
        context.setDefaultTimeout(maxWaitMs)
        const page = await context.newPage()
        await page.goto(testHub.url)
        await page.getByRole('link', { name: /^Sign in with/ }).waitFor()
        assert.deepEqual(await seriousViolations(page), [])
        assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
        await context.close()
      }
    })
  }
})
