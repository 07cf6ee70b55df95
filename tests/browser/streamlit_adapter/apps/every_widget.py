"""A page with one of each thing of Streamlit's whose looks the app changes, or hides on paper."""

import pandas as pd
import streamlit as st

st.set_page_config(layout="wide")
st.navigation([st.Page(lambda: st.title("One"), title="One", url_path="one")], position="top").run()
with st.sidebar, st.expander("Box", expanded=True):
    st.pills("Pills", ["a", "b"])
    st.slider("Slider", 0, 5)
left, right = st.columns(2)
with left:
    st.button("Button")
    st.download_button("Download", b"x")
    st.radio("Radio", ["a"])
    st.checkbox("Checkbox")
    st.selectbox("Select", ["a"])
    st.multiselect("Several", ["a"])
    st.number_input("Number")
    st.popover("More").caption("Inside")
    st.text_input("Text")
    with st.container(horizontal=True):
        st.page_link("https://localhost", label="Link")
with right:
    st.html("<p>HTML</p>")
    st.caption("Caption")
    st.code("print(1)", language="python")
    st.vega_lite_chart(
        pd.DataFrame({"x": [1, 2]}), {"mark": "bar", "encoding": {"x": {"field": "x"}}}
    )
    with st.container(key="rx_keyed"):
        st.text("Keyed")
st.toast("Toast", duration="infinite")
