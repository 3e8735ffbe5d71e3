"""Setting it up: a store in the configuration folder, or a server; and the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import voluptuous as vol
from homeassistant.config_entries import ConfigEntry, ConfigFlow, ConfigFlowResult, OptionsFlow
from homeassistant.core import callback
from homeassistant.helpers import selector

from .const import (
    CAPTURE_MODES,
    CHILDREN_MODES,
    CONF_AGENT,
    CONF_CAPTURE,
    CONF_CHILDREN,
    CONF_CHILDREN_MODE,
    CONF_GUESTS,
    CONF_GUESTS_MODE,
    CONF_HOME,
    CONF_LANGUAGE,
    CONF_MODE,
    CONF_RECALL,
    CONF_SCOPE,
    CONF_TOKEN,
    CONF_URL,
    DEFAULT_HOME,
    DEFAULT_OPTIONS,
    DOMAIN,
    GUESTS_MODES,
    LANGUAGES,
    MODE_EMBEDDED,
    MODE_SERVER,
    SCOPES,
)
from .household import NotOpened, opened_or_why, store_path

_ERRORS = {"refused": "invalid_auth", "unusable": "unusable", "away": "cannot_connect"}
_SECRET = selector.TextSelector(selector.TextSelectorConfig(type=selector.TextSelectorType.PASSWORD))
_ADDRESS = selector.TextSelector(selector.TextSelectorConfig(type=selector.TextSelectorType.URL))


class MemorandaConfigFlow(ConfigFlow, domain=DOMAIN):
    """One memory for a home."""

    VERSION = 1

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        return self.async_show_menu(step_id="user", menu_options=[MODE_EMBEDDED, MODE_SERVER])

    async def async_step_embedded(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Beside the configuration. A store that is there already is used again."""
        errors: dict[str, str] = {}
        told = {"folder": str(store_path(self.hass).parent), "reason": ""}
        if user_input is not None:
            data = {CONF_MODE: MODE_EMBEDDED, **user_input}
            if not await self._problem(data, errors, told):
                return self.async_create_entry(title="Memoranda", data=data, options=dict(DEFAULT_OPTIONS))
        schema = vol.Schema({vol.Required(CONF_HOME, default=DEFAULT_HOME): selector.TextSelector()})
        return self.async_show_form(
            step_id="embedded",
            data_schema=self.add_suggested_values_to_schema(schema, user_input),
            errors=errors,
            description_placeholders=told,
        )

    async def async_step_server(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        told = {"reason": ""}
        if user_input is not None:
            data = {CONF_MODE: MODE_SERVER, **user_input}
            if not await self._problem(data, errors, told):
                return self.async_create_entry(title="Memoranda", data=data, options=dict(DEFAULT_OPTIONS))
        schema = vol.Schema(
            {
                vol.Required(CONF_URL): _ADDRESS,
                vol.Required(CONF_TOKEN): _SECRET,
                vol.Required(CONF_HOME, default=DEFAULT_HOME): selector.TextSelector(),
            }
        )
        return self.async_show_form(
            step_id="server",
            data_schema=self.add_suggested_values_to_schema(schema, _without_token(user_input)),
            errors=errors,
            description_placeholders=told,
        )

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """The server does not know the token any more: ask for another."""
        entry = self._get_reauth_entry()
        errors: dict[str, str] = {}
        told = {"reason": "", "url": entry.data[CONF_URL]}
        if user_input is not None:
            data = {**entry.data, **user_input}
            if not await self._problem(data, errors, told):
                return self.async_update_reload_and_abort(entry, data=data)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=vol.Schema({vol.Required(CONF_TOKEN): _SECRET}),
            errors=errors,
            description_placeholders=told,
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Another address or token; whose memory it is stays."""
        entry = self._get_reconfigure_entry()
        if entry.data[CONF_MODE] == MODE_EMBEDDED:
            return self.async_abort(reason="nothing_to_reconfigure")
        errors: dict[str, str] = {}
        told = {"reason": ""}
        if user_input is not None:
            data = {**entry.data, **user_input}
            if not await self._problem(data, errors, told):
                return self.async_update_reload_and_abort(entry, data=data)
        schema = vol.Schema({vol.Required(CONF_URL): _ADDRESS, vol.Required(CONF_TOKEN): _SECRET})
        return self.async_show_form(
            step_id="reconfigure",
            data_schema=self.add_suggested_values_to_schema(schema, {CONF_URL: entry.data[CONF_URL]}),
            errors=errors,
            description_placeholders=told,
        )

    async def _problem(self, data: dict[str, Any], errors: dict[str, str], told: dict[str, str]) -> bool:
        """Try it: whether it cannot be opened, and why."""
        try:
            memory = await self.hass.async_add_executor_job(
                opened_or_why, data, store_path(self.hass), str(self.hass.config.time_zone)
            )
        except NotOpened as error:
            errors["base"] = _ERRORS[error.why]
            told["reason"] = str(error)
            return True
        await self.hass.async_add_executor_job(memory.close)
        return False

    @staticmethod
    @callback
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        return MemorandaOptionsFlow()


class MemorandaOptionsFlow(OptionsFlow):
    """What is kept and told, of whom, and in which language."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        if user_input is not None:
            if self._is_our_own(user_input[CONF_AGENT]):
                errors[CONF_AGENT] = "own_agent"
            else:
                return self.async_create_entry(data=user_input)
        shown = {**DEFAULT_OPTIONS, **self.config_entry.options, **(user_input or {})}
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(_options_schema(), shown),
            errors=errors,
        )

    def _is_our_own(self, agent: str) -> bool:
        """An agent around itself would never answer."""
        from homeassistant.helpers import entity_registry as er

        entry = er.async_get(self.hass).async_get(agent)
        return agent == self.config_entry.entry_id or (entry is not None and entry.platform == DOMAIN)


def _options_schema() -> vol.Schema:
    people = selector.EntitySelector(selector.EntitySelectorConfig(domain="person", multiple=True))
    return vol.Schema(
        {
            vol.Required(CONF_AGENT): selector.ConversationAgentSelector(),
            vol.Required(CONF_CAPTURE): _choice(CAPTURE_MODES, CONF_CAPTURE),
            vol.Required(CONF_RECALL): selector.BooleanSelector(),
            vol.Required(CONF_SCOPE): _choice(SCOPES, CONF_SCOPE),
            vol.Required(CONF_LANGUAGE): _choice(LANGUAGES, CONF_LANGUAGE),
            vol.Optional(CONF_CHILDREN, default=list): people,
            vol.Required(CONF_CHILDREN_MODE): _choice(CHILDREN_MODES, CONF_CHILDREN_MODE),
            vol.Optional(CONF_GUESTS, default=list): people,
            vol.Required(CONF_GUESTS_MODE): _choice(GUESTS_MODES, CONF_GUESTS_MODE),
        }
    )


def _choice(options: tuple[str, ...], key: str) -> selector.SelectSelector:
    return selector.SelectSelector(selector.SelectSelectorConfig(options=list(options), translation_key=key))


def _without_token(given: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if given is None else {name: value for name, value in given.items() if name != CONF_TOKEN}
