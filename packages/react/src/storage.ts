const rest = new Map<string, string>()

/** The browser's storage for drafts. What it refuses, because it is blocked or full, stays until the page is closed. */
export const storage = {
  get(name: string): string | null {
    const kept = rest.get(name)
    if (kept !== undefined) return kept
    try {
      return localStorage.getItem(name)
    } catch {
      return null
    }
  },
  set(name: string, value: string): void {
    rest.delete(name)
    try {
      localStorage.setItem(name, value)
    } catch {
      rest.set(name, value)
    }
  },
  remove(name: string): void {
    rest.delete(name)
    try {
      localStorage.removeItem(name)
    } catch {
      // Then it holds nothing either.
    }
  },
}
