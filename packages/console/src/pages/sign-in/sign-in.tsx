/** The sign-in page: the admin key, or the configured issuer. After it the user is at the page of the address. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { callAdmin, type AdminResponse } from '../../api/admin-client.ts'
import { hasSessionEnded } from '../../api/session-state.ts'
import { linkProblem, signIn } from '../../api/session.ts'
import { signInReturnPath } from '../../app/page-route.ts'
import { navigate, path, query } from '../../app/router.ts'
import { useDocumentTitle } from '../../components/layout/document-title.ts'
import { useSubmit } from '../../components/form/use-submit.ts'
import { WarningNote } from '../../components/status/error-notice.tsx'
import './sign-in.css'

const hostText = (host: string, path: string | undefined) =>
  path === undefined ? host : `${host}, continues to ${path}`

type SignInMethods = AdminResponse<'getSignIn'>

export function SignInPage() {
  useDocumentTitle('page', 'Sign in')
  const key = useSignal('')
  const isShown = useSignal(false)
  const mistake = useSignal('')
  /** Error of the sign-in at the issuer. */
  const refused = useSignal('')
  const methods = useSignal<SignInMethods | undefined>(undefined)
  const issuer = methods.value?.oidc?.issuer
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    void callAdmin('getSignIn').then(
      (found) => (methods.value = found),
      () => {},
    )
  }, [])
  useEffect(() => {
    const error = query.value.get('signInError')
    if (error === null) return
    refused.value = error.slice(0, 300)
    // Removes the error from the address, so that it is not kept, shared, or shown again after a reload.
    navigate(takeReturnPath() ?? '/', { replace: true })
  }, [query.value])

  const { isBusy, onSubmit } = useSubmit(
    async () => {
      mistake.value = ''
      refused.value = ''
      linkProblem.value = ''
      await signIn(key.value.trim())
      takeReturnPath()
    },
    ({ message }) => {
      mistake.value = message
      field.current?.select()
    },
  )
  const problem = refused.value || linkProblem.value
  const to = signInReturnPath(new URL(`${path.value}?${query.value}`, location.origin))
  const isElsewhere = path.value !== '/' && path.value !== '/welcome'
  return (
    <main class="sign-in">
      <form onSubmit={onSubmit}>
        <img src="/console/icon.svg" alt="" width="40" height="40" />
        <div>
          <h1>Sign in to Parley</h1>
          <p class="faint cut">{hostText(location.host, isElsewhere ? path.value : undefined)}</p>
        </div>
        {problem !== '' && (
          <div role="alert">
            <WarningNote tone="failed">{problem}</WarningNote>
          </div>
        )}
        {hasSessionEnded.value && problem === '' && (
          <div role="alert">
            <WarningNote>
              Your session has ended: it expired, its credentials changed, or an operator ended it. Sign in to continue;
              what you typed is kept.
            </WarningNote>
          </div>
        )}
        {issuer !== undefined && (
          <>
            <a
              class="button primary"
              href={`/admin/sign-in/oidc?${new URLSearchParams({ to })}`}
              onClick={() => saveReturnPath(to)}
            >
              Sign in with {new URL(issuer).host}
            </a>
            <p class="sign-in-or faint">or</p>
          </>
        )}
        <div class="field">
          <label for="key">Admin key</label>
          <div class="sign-in-key">
            <input
              ref={field}
              id="key"
              {...fieldType(isShown.value)}
              autocomplete="current-password"
              autocapitalize="off"
              spellcheck={false}
              required
              value={key.value}
              aria-invalid={mistake.value !== ''}
              aria-describedby={mistake.value === '' ? 'key-hint' : 'key-mistake key-hint'}
              onInput={(event) => (key.value = event.currentTarget.value)}
            />
            <button
              type="button"
              class="plain"
              aria-label={isShown.value ? 'Hide key' : 'Show key'}
              onClick={() => (isShown.value = !isShown.value)}
            >
              {isShown.value ? 'Hide' : 'Show'}
            </button>
          </div>
          {mistake.value !== '' && (
            <p class="mistake" id="key-mistake" role="alert">
              {mistake.value}
            </p>
          )}
          <p class="hint" id="key-hint">
            <KeyHint methods={methods.value} />
          </p>
        </div>
        <button type="submit" class={issuer === undefined ? 'primary' : ''} disabled={isBusy}>
          Sign in
        </button>
      </form>
    </main>
  )
}

/** How to get in: the command, and where the key is. */
function KeyHint({ methods }: { readonly methods: SignInMethods | undefined }) {
  const { keyFrom, keyFile = '' } = methods ?? {}
  const isPath = /[/\\]/.test(keyFile)
  return (
    <>
      {'On the machine of the hub, in its folder, '}
      <code>parley open</code>
      {' opens this page signed in. '}
      {keyFrom === 'file' && (
        <>
          {'The key is in '}
          <code>{keyFile}</code>
          {isPath ? '.' : ' in the data directory of the hub.'}
        </>
      )}
      {keyFrom === 'configuration' && (
        <>
          {'The key is the value of '}
          <code>admin.key</code>
          {' or '}
          <code>PARLEY_ADMIN_KEY</code>.
        </>
      )}
      {keyFrom === 'elsewhere' && (
        <>
          {'There is no key in '}
          <code>{keyFile}</code>
          {'. If you lost it, stop the hub and create another with '}
          <code>parley key rotate admin</code>.
        </>
      )}
    </>
  )
}

/** The two types of the field, as a union that the element types accept. */
function fieldType(isShown: boolean): { readonly type: 'text' } | { readonly type: 'password' } {
  return isShown ? { type: 'text' } : { type: 'password' }
}

/**
 * The path to return to after sign-in at the identity provider, in case it ends at the sign-in page again. Kept in this tab only.
 */
const storageKey = 'parley.trip'

function saveReturnPath(to: string): void {
  try {
    sessionStorage.setItem(storageKey, to)
  } catch {
    // Without storage, sign-in returns to the first page.
  }
}

function takeReturnPath(): string | undefined {
  try {
    const to = sessionStorage.getItem(storageKey)
    sessionStorage.removeItem(storageKey)
    return to !== null && /^\/(?!\/)/.test(to) ? to : undefined
  } catch {
    return undefined
  }
}
