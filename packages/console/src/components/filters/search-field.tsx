/** A text filter. Changes are debounced, so that not every keystroke is a request. */
import { useEffect, useRef } from 'preact/hooks'

const debounceMs = 200

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChange: (text: string) => void
}

export function SearchField({ label, placeholder, value, onChange }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    // While the user types, the field is ahead of the address.
    if (field.current !== null && field.current !== document.activeElement) field.current.value = value
  }, [value])

  function scheduleChange(text: string, afterMs: number): void {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(text), afterMs)
  }

  function handleKeyDown(event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void {
    if (event.key === 'Enter') scheduleChange(event.currentTarget.value, 0)
    if (event.key === 'Escape') event.currentTarget.blur()
  }

  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      onInput={(event) => scheduleChange(event.currentTarget.value, debounceMs)}
      onKeyDown={handleKeyDown}
    />
  )
}
