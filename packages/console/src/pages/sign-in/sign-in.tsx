/** The door: the admin key, or the issuer that the configuration names. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { problemOf } from '../../api/problem.ts'
import { signIn } from '../../api/session.ts'
import './sign-in.css'

export function SignIn() {
  const key = useSignal('')
  const isBusy = useSignal(false)
  const mistake = useSignal(new URLSearchParams(location.search).get('signInError') ?? '')
  const issuer = useSignal<string | undefined>(undefined)
  useEffect(() => {
    document.title = 'Sign in · Parley'
    void call('getSignIn').then(
      ({ oidc }) => (issuer.value = oidc?.issuer),
      () => {},
    )
  }, [])

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    isBusy.value = true
    mistake.value = ''
    try {
      await signIn(key.value.trim())
    } catch (reason) {
      mistake.value = problemOf(reason).message
    }
    isBusy.value = false
  }

  const to = encodeURIComponent(location.pathname + location.search)
  return (
    <main class="door">
      <form onSubmit={(event) => void submit(event)}>
        <img src="/console/icon.svg" alt="" width="40" height="40" />
        <h1>Sign in to Parley</h1>
        {issuer.value !== undefined && (
          <>
            <a class="button primary" href={`/admin/sign-in/oidc?to=${to}`}>
              Sign in with {new URL(issuer.value).host}
            </a>
            <p class="door-or faint">or</p>
          </>
        )}
        <div class="field">
          <label for="key">Admin key</label>
          <input
            id="key"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            value={key.value}
            aria-invalid={mistake.value !== ''}
            aria-describedby="key-hint"
            onInput={(event) => (key.value = event.currentTarget.value)}
          />
          {mistake.value !== '' && (
            <p class="mistake" role="alert">
              {mistake.value}
            </p>
          )}
          <p class="hint" id="key-hint">
            The hub printed it when it first started. Lost? Set <code>admin.key</code> in <code>parley.yaml</code>, or{' '}
            <code>PARLEY_ADMIN_KEY</code>, and start it again.
          </p>
        </div>
        <button type="submit" class={issuer.value === undefined ? 'primary' : ''} disabled={isBusy.value}>
          Sign in
        </button>
      </form>
    </main>
  )
}
