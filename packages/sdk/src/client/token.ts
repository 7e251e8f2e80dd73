import { LoquatError } from '../error.ts'
import { type SendOptions, TIMEOUT_MS } from '../transport.ts'

/** The auth token, and how to get a new one. */
export interface TokenOptions extends Pick<SendOptions, 'timeoutMs'> {
  /** The user's auth token. Your server creates it. */
  authToken: string
  /**
   * Called when the server rejects the token. Return a new token, or undefined to sign the user out. If it rejects or takes
   * longer than `timeoutMs`, the client calls it again later.
   */
  renewToken?: (() => Promise<string | undefined>) | undefined
}

/** The user's current token. */
export class Token {
  current: string
  readonly #options: TokenOptions
  readonly #on: { none: () => void; renewed: () => void }
  #renewing: Promise<boolean> | undefined

  constructor(options: TokenOptions, on: { none: () => void; renewed: () => void }) {
    this.current = options.authToken
    this.#options = options
    this.#on = on
  }

  /**
   * Gets a new token after one was rejected, with a single call of the hook for all requests that used the rejected one.
   * Resolves to false if there is none, and rejects if the hook fails.
   */
  renew(refused: string): Promise<boolean> {
    if (this.current !== refused) return Promise.resolve(true)
    this.#renewing ??= this.#renewed().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewed(): Promise<boolean> {
    const token = await this.#ask()
    if (!token) {
      this.#on.none()
      return false
    }
    this.current = token
    this.#on.renewed()
    return true
  }

  /** Calls the hook, which may throw, return no promise, or return one that never settles. */
  async #ask(): Promise<string | undefined> {
    const { renewToken, timeoutMs = TIMEOUT_MS } = this.#options
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`renewToken did not return a token within ${timeoutMs} ms.`)),
        timeoutMs,
      )
    })
    try {
      return await Promise.race([renewToken?.(), late])
    } catch (cause) {
      const message = 'The server rejected the token, and renewToken failed.'
      throw new LoquatError({ code: 'CLIENT_ERR_TOKEN_NOT_RENEWED', message, cause })
    } finally {
      clearTimeout(timer)
    }
  }
}
