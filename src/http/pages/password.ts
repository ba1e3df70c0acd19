import { field } from './field.ts'
import { html, page } from './html.ts'

/** Who was invited, or forgot theirs, chooses a password by the one-time link that an admin made. */
export function passwordPage(): string {
  return page({
    title: 'Choose a password · Tally',
    scripts: ['/assets/password.js'],
    content: html`<section id="choose">
<h1>Choose a password</h1>
<p class="lead">You sign in with it from now on. Wherever you are signed in already, you will be signed out.</p>
<noscript><p class="notice">This page needs JavaScript. Without it, an admin can set your password with <code>tally users set-password</code>.</p></noscript>
<div class="notice" id="notice" role="alert" tabindex="-1" hidden></div>
<form id="form" method="post" novalidate hidden>
${field({ pointer: '/password', label: 'Password', hint: 'At least 10 characters. A few words are easy to remember and hard to guess.', attributes: html`type="password" autocomplete="new-password"` })}
<button type="submit">Choose</button>
</form>
</section>
<section id="done" tabindex="-1" hidden>
<h1>You are signed in, <span data-fill="name"></span></h1>
<p class="lead">Next time, sign in as <span data-fill="email"></span> with the password that you have chosen.</p>
<p><a href="/">Go on to Tally</a></p>
</section>`,
  })
}
