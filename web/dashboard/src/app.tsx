/** The dashboard: chooses the page from the address. */

import { type JSX, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "./theme.css";
import { Operators } from "./pages/operators/Operators.tsx";
import { Campaign } from "./pages/readers/Campaign.tsx";
import { Campaigns } from "./pages/readers/Campaigns.tsx";
import { Ledger } from "./pages/readers/Ledger.tsx";
import { Privacy } from "./pages/readers/Privacy.tsx";
import { Query } from "./pages/readers/Query.tsx";
import { Review } from "./pages/reviewers/Review.tsx";
import { currentRoute, link, type Route } from "./router.ts";

const TABS = [
  ["", "Trends"],
  ["privacy", "Privacy"],
  ["review", "Review"],
] as const;

function App(): JSX.Element {
  const [route, setRoute] = useState(currentRoute());
  useEffect(() => {
    const changed = () => {
      setRoute(currentRoute());
      toContent();
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  useEffect(() => {
    document.title = [...route.slice(1).reverse(), "blender-dp collector"].join(" · ");
  }, [route]);
  return (
    <>
      <button class="skip" type="button" onClick={toContent}>
        Skip to content
      </button>
      <header class="top">
        <a class="home" href={link()}>
          blender-dp
        </a>
        <nav aria-label="Pages">
          <a href={link()}>Campaigns</a> <a href={link("ledger")}>Ledger</a> <a href={link("operator")}>Operator</a>
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        <Page route={route} />
      </main>
      <footer class="soft">
        <a href="/v1/openapi.json">API</a> · <a href="/__version__">versions</a> · no cookies, no requests to other servers
      </footer>
    </>
  );
}

/** Move the focus to the content: an anchor would change the address, which is the page's own. */
function toContent(): void {
  document.querySelector("main")?.focus();
}

function Page({ route }: { readonly route: Route }): JSX.Element {
  const [first, name, ...rest] = route;
  if (first === undefined) return <Campaigns />;
  if (first === "ledger") return <Ledger />;
  if (first === "operator") return <Operators route={route.slice(1)} />;
  if (first === "c" && name) return <CampaignPages name={name} rest={rest} />;
  return (
    <p>
      This page does not exist. <a href={link()}>All campaigns</a>
    </p>
  );
}

function CampaignPages({ name, rest }: { readonly name: string; readonly rest: Route }): JSX.Element {
  const [tab = "", query = ""] = rest;
  return (
    <>
      <h1>{name}</h1>
      <nav class="tabs" aria-label={`Campaign ${name}`}>
        {TABS.map(([path, title]) => (
          <a
            key={path}
            href={path ? link("c", name, path) : link("c", name)}
            aria-current={path === tab ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {tab === "privacy" ? (
        <Privacy name={name} />
      ) : tab === "review" ? (
        <Review name={name} />
      ) : tab === "q" ? (
        <Query campaign={name} query={query} />
      ) : (
        <Campaign name={name} />
      )}
    </>
  );
}

const place = document.getElementById("app");
if (place) render(<App />, place);
