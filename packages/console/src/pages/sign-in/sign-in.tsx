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
import { signInStrings } from './strings.ts'
import './sign-in.css'

type SignInMethods = AdminResponse<'getSignIn'>

export function SignInPage() {
  useDocumentTitle('page', signInStrings.submit)
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
          <h1>{signInStrings.title}</h1>
          <p class="faint cut">{signInStrings.host(location.host, isElsewhere ? path.value : undefined)}</p>
        </div>
        {problem !== '' && (
          <div role="alert">
            <WarningNote tone="failed">{problem}</WarningNote>
          </div>
        )}
        {hasSessionEnded.value && problem === '' && (
          <div role="alert">
            <WarningNote>{signInStrings.ended}</WarningNote>
          </div>
        )}
        {issuer !== undefined && (
          <>
            <a
              class="button primary"
              href={`/admin/sign-in/oidc?${new URLSearchParams({ to })}`}
              onClick={() => saveReturnPath(to)}
            >
              {signInStrings.withIssuer(new URL(issuer).host)}
            </a>
            <p class="sign-in-or faint">{signInStrings.or}</p>
          </>
        )}
        <div class="field">
          <label for="key">{signInStrings.key}</label>
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
              aria-label={isShown.value ? signInStrings.hideKey : signInStrings.showKey}
              onClick={() => (isShown.value = !isShown.value)}
            >
              {isShown.value ? signInStrings.hide : signInStrings.show}
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
          {signInStrings.submit}
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
      {signInStrings.onMachine}
      <code>{signInStrings.openCommand}</code>
      {signInStrings.opensSignedIn}
      {keyFrom === 'file' && (
        <>
          {signInStrings.keyIsIn}
          <code>{keyFile}</code>
          {isPath ? '.' : signInStrings.keyFolder}
        </>
      )}
      {keyFrom === 'configuration' && (
        <>
          {signInStrings.keyIsSetting}
          <code>{signInStrings.keySetting}</code>
          {signInStrings.keyOr}
          <code>{signInStrings.keyVariable}</code>.
        </>
      )}
      {keyFrom === 'elsewhere' && (
        <>
          {signInStrings.keyIsNotIn}
          <code>{keyFile}</code>
          {signInStrings.keyLost}
          <code>{signInStrings.rotateCommand}</code>.
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
