/** An edit conflict: the other user's change, and the choices for the own draft. */
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { query, setQuery } from '../../../app/router.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { Loading } from '../../../components/status/error-notice.tsx'
import { invertDiff } from '../../../components/diff/diff.ts'
import { LineDiffView } from '../../../components/diff/line-diff-view.tsx'
import { configStrings } from './strings.ts'
import { baseConfig, discardDraft, rebaseDraft, conflictingConfig, type ConfigText } from './config-draft.ts'

export function ConfigConflict() {
  const found = conflictingConfig.value
  const versions = useResource(`versions ${found?.hash}`, (signal) => callAdmin('listConfigVersions', { signal }))
  const newest = versions.value.value?.versions.find(({ hash }) => hash === found?.hash)
  const isShown = query.value.get('theirs') !== null
  if (found === undefined) return null
  return (
    <section class="config-conflict panel" aria-label={configStrings.conflict.label}>
      <div class="config-conflict-head" role="alert">
        <Icon name="warning" />
        <p class="grow">
          <strong>{configStrings.conflict.title}</strong>
          {newest === undefined ? (
            <>. {configStrings.conflict.byFile}</>
          ) : (
            <>
              : {newest.who}, <RelativeTime at={newest.at} />
              {newest.note !== undefined && <>, “{newest.note}”</>}.
            </>
          )}{' '}
          {configStrings.conflict.kept}
        </p>
      </div>
      <div class="config-conflict-choice">
        <button type="button" aria-expanded={isShown} onClick={() => setQuery({ theirs: isShown ? undefined : '1' })}>
          {isShown ? configStrings.conflict.hide : configStrings.conflict.show}
        </button>
        <button type="button" onClick={() => keepDraft()}>
          {configStrings.conflict.keep}
        </button>
        <ConfirmButton
          label={configStrings.conflict.take}
          question={configStrings.conflict.takeQuestion}
          onConfirm={async () => takeConflicting()}
        >
          {configStrings.conflict.takeText}
        </ConfirmButton>
      </div>
      {isShown && <ConflictingChanges found={found} />}
    </section>
  )
}

function keepDraft(): void {
  rebaseDraft()
  setQuery({ theirs: undefined })
}

function takeConflicting(): void {
  discardDraft()
  setQuery({ theirs: undefined })
}

/** From the base of the draft to the current configuration; the hub compares in the opposite direction. */
function ConflictingChanges({ found }: { readonly found: ConfigText }) {
  const before = baseConfig.value?.text ?? ''
  const compared = useResource(`theirs ${found.hash}`, async (signal) => {
    const { diff } = await callAdmin('diffConfig', { body: { text: before }, signal })
    return invertDiff(diff)
  })
  if (compared.value.value !== undefined) {
    const { changes, before: old, after } = configStrings.conflict
    return <LineDiffView diff={compared.value.value} label={changes} before={old} after={after} />
  }
  // A text from which a secret was removed meanwhile cannot be compared; it is shown as is.
  if (compared.problem.value !== undefined) return <pre class="config-theirs mono">{found.text}</pre>
  return <Loading what={configStrings.conflict.loading} />
}
