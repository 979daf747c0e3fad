/** A text to filter by: told a moment after it was typed, so that not every letter is a question to the hub. */
import { useEffect, useRef } from 'preact/hooks'

const pauseMs = 200

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
    // Whoever types is ahead of the address.
    if (field.current !== null && field.current !== document.activeElement) field.current.value = value
  }, [value])

  function tellSoon(text: string, afterMs: number): void {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(text), afterMs)
  }

  function press(event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void {
    if (event.key === 'Enter') tellSoon(event.currentTarget.value, 0)
    if (event.key === 'Escape') event.currentTarget.blur()
  }

  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      onInput={(event) => tellSoon(event.currentTarget.value, pauseMs)}
      onKeyDown={press}
    />
  )
}
