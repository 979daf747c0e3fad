/** A key that was just created. It is shown once: leaving the page asks first. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { MadeKey } from '../api/admin.ts'
import { registerUnsavedWork } from '../api/session.ts'
import { requestConfirmation } from '../app/confirm-dialog.tsx'
import { setLeaveGuard } from '../app/router.ts'
import { copyText } from '../components/content/copy-button.tsx'
import { Icon } from '../components/icon.tsx'
import './new-key-notice.css'

export function NewKeyNotice({ made, onDone }: { readonly made: MadeKey; readonly onDone: () => void }) {
  const isCopied = useSignal(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [made.id])
  useEffect(() => {
    if (isCopied.value) return
    const stay = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', stay)
    const release = registerUnsavedWork({
      text: 'The new key is shown only once, and you have not copied it. Without it, you have to create another one.',
    })
    const removeGuard = setLeaveGuard(() =>
      requestConfirmation({
        title: 'Leave without the key?',
        text: 'The new key is shown only once, and you have not copied it. Without it, you have to create another one.',
        action: 'Leave',
      }),
    )
    return () => {
      removeEventListener('beforeunload', stay)
      release()
      removeGuard()
    }
  }, [isCopied.value])

  async function copy(): Promise<void> {
    await copyText(made.key, 'Key copied')
    isCopied.value = true
  }

  return (
    <section class="stack shown-key" aria-labelledby="shown-key-title">
      <h3 class="row" id="shown-key-title" ref={heading} tabIndex={-1}>
        <Icon name="key" /> Key “{made.name}”
      </h3>
      <p>
        <strong>This key is shown only once.</strong>
        {' Copy it now and store it in a safe place. We store only a hash and cannot show it again.'}
      </p>
      <div class="bar shown-key-line">
        <code>{made.key}</code>
        <button type="button" class="primary" onClick={() => void copy()}>
          <Icon name={isCopied.value ? 'check' : 'copy'} />
          {isCopied.value ? 'Copied' : 'Copy key'}
        </button>
      </div>
      <div class="row">
        <button type="button" onClick={onDone}>
          Done
        </button>
      </div>
    </section>
  )
}
